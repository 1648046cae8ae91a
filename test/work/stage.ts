import { randomBytes } from 'node:crypto';
import type { BusClient } from '../support/bus-client.js';
import { onBus, ok, type TestExecutor, type TestMember } from '../support/factories.js';
import type { TestNode } from '../support/node.js';
import { accept, outcome, taskOf } from '../routing/stage.js';

export interface DoorAnswer {
  readonly status: number;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- a test reads what it expects, and fails where it is not
  readonly body: any;
  readonly text: string;
}

/** The names of a task, as the bus carries them. */
export interface TaskName {
  readonly run_public_id: string;
  readonly task_key: string;
}

type Verb = 'inbox' | 'claim' | 'claim_status' | 'extend' | 'commit' | 'progress';

/** As `outcome`: `409 already_claimed`, or the status alone. */
export const codeOf = (answer: DoorAnswer): string => outcome({ ...answer, headers: {} });

/** One executor at one door: every verb with the fields of chapter 6, whichever the door. */
export interface Door {
  readonly name: 'REST' | 'bus';
  ask(verb: Verb, fields?: object | string): Promise<DoorAnswer>;
  close(): Promise<void>;
}

/** The REST door of `node`. */
export function restDoor(node: TestNode, executor: TestExecutor): Door {
  const { token } = executor;
  return {
    name: 'REST',
    close: () => Promise.resolve(),
    ask(verb, fields = {}) {
      if (verb === 'progress') {
        return node.http('POST', '/agent_api/v1/executor/progress', { token, body: fields });
      }
      const named = (typeof fields === 'string' ? JSON.parse(fields) : fields) as Record<string, unknown>;
      if (verb === 'inbox') {
        const query = new URLSearchParams(
          Object.entries(named).map(([key, value]): [string, string] => [key, String(value)]),
        );
        return node.http('GET', `/agent_api/v1/executor/inbox?${query.toString()}`, { token });
      }
      const { run_public_id, task_key, ...body } = named;
      const path = `/agent_api/v1/executor/inbox/${String(run_public_id)}/${String(task_key)}`;
      if (verb === 'claim_status') {
        const claimToken = body['claim_token'] as string | undefined;
        const headers: Record<string, string> = claimToken === undefined ? {} : { 'claim-token': claimToken };
        return node.http('GET', `${path}/claim`, { token, headers });
      }
      return node.http('POST', `${path}/${verb}`, {
        token,
        body: typeof fields === 'string' ? fields : body,
      });
    },
  };
}

/** The bus, whichever node takes the request. */
export async function busDoor(executor: TestExecutor): Promise<Door> {
  const client: BusClient = await onBus(executor);
  return {
    name: 'bus',
    close: () => client.close(),
    ask: (verb, fields = {}) => client.ask(verb, fields),
  };
}

export const newToken = (): string => randomBytes(32).toString('base64url');

/** Accepts one call of `tool` at a runner, and answers its name. */
export async function parked(
  node: TestNode,
  member: TestMember,
  run: string,
  step: object,
): Promise<TaskName> {
  const { run_public_id, task_key } = taskOf(await accept(node, member, run, [step]));
  return { run_public_id, task_key };
}

/** Claims with a new token; answers the token. */
export async function claimed(door: Door, task: TaskName): Promise<string> {
  const claim_token = newToken();
  const answer = await door.ask('claim', { ...task, claim_token });
  if (answer.status !== 200) throw new Error(answer.text);
  return claim_token;
}

/** The task as its member reads it. */
export async function taskNow(
  node: TestNode,
  member: TestMember,
  { run_public_id, task_key }: TaskName,
  waitMs = 0,
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- as above
): Promise<any> {
  const path = `/agent_api/v1/runs/${run_public_id}/tasks/${task_key}?wait_ms=${waitMs}`;
  return (ok(await node.http('GET', path, { token: member.token })).body as { task: unknown }).task;
}

/** Moves a task's deadline into the past, as time does. */
export async function pastDeadline(node: TestNode, { run_public_id, task_key }: TaskName): Promise<void> {
  await node.db.pool.query(
    `update tasks set deadline_at = clock_timestamp() - interval '1 millisecond' where run_id = $1 and task_key = $2`,
    [run_public_id, task_key],
  );
}
