import type { Step } from './reference-routing.js';
import type { ClaimView, RunView, TaskView } from './views.js';
import type { Entry, ExecutorName, Member, Mode, RulesName } from './world.js';

/** An executor who acts, with the credential of an epoch. */
export interface Actor {
  readonly name: ExecutorName;
  readonly epoch: number;
}

export interface OnTask {
  readonly run: string;
  readonly key: string;
}

/** A claim's result. `bad` breaks its grammar; `unstorable` can't be stored. */
export type Result = 'completed' | 'is_error' | 'failed' | 'bad' | 'unstorable';

/** A command for each of these verbs. */
type Verb<Names extends string, Fields> = Names extends string
  ? { readonly verb: Names } & Readonly<Fields>
  : never;

/** Every verb of chapters 5 to 7, with names for ids. */
export type Command =
  | Verb<
      'create_run',
      {
        by: Member;
        name: string;
        parent?: string | undefined;
        /** Undefined leaves it to the conversation. */
        runner: ExecutorName | null | undefined;
        inConversation: boolean;
        mode?: Mode | undefined;
        rules: RulesName;
        only?: readonly string[] | undefined;
      }
    >
  | Verb<'accept', { by: Member; run: string; steps: readonly Step[] }>
  | Verb<'approve' | 'deny' | 'retry' | 'cancel' | 'read_task', { by: Member } & OnTask>
  | Verb<'stop' | 'read_run', { by: Member; run: string }>
  | Verb<'approvals', { by: Member }>
  | Verb<'set_default', { by: Member; runner: ExecutorName | null }>
  | Verb<'claim' | 'claim_status' | 'progress', { as: Actor; token: string } & OnTask>
  | Verb<'extend', { as: Actor; token: string; timeout: number } & OnTask>
  | Verb<'commit', { as: Actor; token: string; result: Result; checkpoint?: string | undefined } & OnTask>
  | Verb<'announce', { as: Actor; tools: Readonly<Record<string, Entry>> }>
  | Verb<'revoke' | 're_pair' | 'shutdown' | 'resume', { executor: ExecutorName }>
  | Verb<'expire', OnTask>
  | Verb<'age', { run: string }>
  | Verb<'sweep' | 'prune', object>;

/** The command of one of these verbs. */
export type Of<Names extends Command['verb']> = Extract<Command, { verb: Names }>;

/** What is answered: `outcomes` are the status and code, one of them; a success has a body where it is looked at. */
export interface Answer {
  readonly outcomes: readonly string[];
  readonly body?:
    TaskView | TaskView[] | RunView | ClaimView | { readonly active: boolean } | string[] | undefined;
}
