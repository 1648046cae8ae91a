import type { EffectProfile } from '../../src/kernel/effect-profile.js';

/** Who takes part. Names stand for ids: the model knows no others. */
export const MEMBERS = ['root', 'sam', 'zoe', 'ada', 'bob'] as const;
export type Member = (typeof MEMBERS)[number];

export const EXECUTORS = ['r1', 'r2', 'p1', 'p2', 'app'] as const;
export type ExecutorName = (typeof EXECUTORS)[number];

export type Mode = 'bypass' | 'rules' | 'ask';

export interface Rule {
  readonly tool: string;
  readonly path?: string;
  readonly match?: string;
  readonly effect?: Partial<EffectProfile>;
  readonly verdict: 'allow' | 'ask' | 'deny';
  readonly reason?: string;
}

/** A member as they were made; an agent has a steward. */
export interface Person {
  readonly kind: 'human' | 'agent';
  readonly isAdmin?: boolean;
  readonly steward?: Member;
  readonly floor?: Mode;
  readonly rules?: readonly Rule[];
}

export const PEOPLE: Readonly<Record<Member, Person>> = {
  root: { kind: 'human', isAdmin: true },
  sam: { kind: 'human' },
  zoe: { kind: 'human' },
  ada: {
    kind: 'agent',
    steward: 'sam',
    floor: 'bypass',
    rules: [{ tool: 'edit|find', path: 'path', match: 'etc/*', verdict: 'deny', reason: 'not there' }],
  },
  bob: { kind: 'agent', steward: 'root', floor: 'ask' },
};

/** An executor as it was registered. */
export interface Registration {
  readonly kind: 'runner' | 'tool_provider' | 'agent_application';
  /** `account_wide`, or a human's private one. */
  readonly manager: Member;
  readonly isPrivate?: boolean;
  readonly agent?: Member;
}

export const REGISTRATIONS: Readonly<Record<ExecutorName, Registration>> = {
  r1: { kind: 'runner', manager: 'root' },
  r2: { kind: 'runner', manager: 'sam', isPrivate: true },
  p1: { kind: 'tool_provider', manager: 'root' },
  p2: { kind: 'tool_provider', manager: 'sam', isPrivate: true },
  app: { kind: 'agent_application', manager: 'sam', isPrivate: true, agent: 'ada' },
};

const profile = (
  kind: EffectProfile['kind'],
  destructive: boolean,
  effect_scope: EffectProfile['effect_scope'],
  idempotency: EffectProfile['idempotency'],
  reconciliation: EffectProfile['reconciliation'],
): EffectProfile => ({ kind, destructive, effect_scope, idempotency, reconciliation });

/** One of each row of the expiry table. */
export const PROFILES = {
  read: profile('read_only', false, 'closed', 'intrinsic', 'none'),
  write: profile('write', true, 'open', 'none', 'none'),
  keyed: profile('write', false, 'closed', 'keyed', 'none'),
  lookup: profile('write', true, 'open', 'none', 'lookup'),
  intrinsic: profile('write', false, 'closed', 'intrinsic', 'none'),
} as const;
type ProfileName = keyof typeof PROFILES;

/** Rules that runs are made with. */
export const RULES = {
  none: [],
  denyEdit: [{ tool: 'edit', verdict: 'deny', reason: 'no edits' }],
  askAll: [{ tool: '*', verdict: 'ask' }],
  allowEdit: [{ tool: 'ed*|find', verdict: 'allow' }],
  askDestructive: [{ tool: '*', effect: { destructive: true }, verdict: 'ask' }],
  allowHome: [{ tool: 'edit', path: 'path', match: 'home/*', verdict: 'allow' }],
} as const satisfies Record<string, readonly Rule[]>;
export type RulesName = keyof typeof RULES;

/** An entry of an announcement. `words` tells descriptions apart; undescribed it is an operator capability. */
export interface Entry {
  readonly profile: ProfileName;
  readonly isDescribed: boolean;
  readonly words: number;
  readonly timeout?: number;
}

/** Deadlines are set to these, in milliseconds: far enough apart, and far enough away, to be told from what is left. */
export const CLOCKS = {
  kernelDefault: 120_000,
  steps: [600_000, 1_000_000],
  announced: [800_000, 1_400_000],
  extensions: [400_000, 500_000, 1_200_000],
  tooLong: 3_600_001,
  hold: 86_400_000,
} as const;

interface Executor {
  epoch: number;
  isRevoked: boolean;
  isShutDown: boolean;
  tools: Readonly<Record<string, Entry>>;
}

export interface Run {
  readonly name: string;
  readonly principal: Member;
  readonly parent?: string;
  readonly isInConversation: boolean;
  readonly runner: ExecutorName | null;
  readonly mode: Mode;
  readonly rules: readonly Rule[];
  /** The frozen declaration: a callable goes to the tool of its name at this runner, or at nobody in particular. */
  readonly callables: Readonly<Record<string, ExecutorName | null>>;
  isStopped: boolean;
  isPruned: boolean;
  /** It is older than the account keeps details. */
  isOld: boolean;
  /** What it was like when it was pruned. */
  prunedAs?: 'open' | 'completed';
}

type Status =
  'needs_approval' | 'dispatched' | 'completed' | 'failed' | 'timed_out' | 'uncertain' | 'canceled';

export interface Task {
  readonly run: string;
  readonly key: string;
  readonly tool: string;
  readonly alias?: string;
  readonly path?: string;
  readonly role: 'runner' | 'agent_application' | 'tool_provider' | 'kernel';
  readonly addressed?: ExecutorName;
  readonly timeout: number;
  readonly bound: number;
  status: Status;
  generation: number;
  profile: EffectProfile;
  /** An agent called, in this generation. */
  isOfAgent: boolean;
  /** What its deadline was last set to, from then; `due` once that has passed. Of open tasks only. */
  clock?: number | 'due';
  approval?: { readonly origin: 'mode' | 'rule' | 'human'; readonly by?: Member };
  /** The entries it rests with. */
  restsWith?: string;
  claim?: { readonly by: ExecutorName; readonly epoch: number; readonly token: string };
  error?: { readonly key: string; readonly detail?: string };
  isError?: boolean;
  content?: string;
  capture?: {
    readonly generation: number;
    readonly runner: ExecutorName;
    /** Captures of the run that came before. */
    readonly order: number;
    checkpoint?: string;
  };
  isOld: boolean;
}

/** All that the chapters say there is. */
export interface State {
  readonly executors: Record<ExecutorName, Executor>;
  readonly runs: Run[];
  /** In order of acceptance. */
  tasks: Task[];
  /** The default runner of ada's conversation. */
  conversationDefault: ExecutorName | null;
}

export const isOpen = ({ status }: Task): boolean => status === 'needs_approval' || status === 'dispatched';

export const isNamed = (task: Task, { run, key }: { run: string; key: string }): boolean =>
  task.run === run && task.key === key;

export function firstState(): State {
  const executor = (): Executor => ({ epoch: 1, isRevoked: false, isShutDown: false, tools: {} });
  const executors = Object.fromEntries(EXECUTORS.map((name) => [name, executor()]));
  return {
    executors: executors as Record<ExecutorName, Executor>,
    runs: [],
    tasks: [],
    conversationDefault: null,
  };
}
