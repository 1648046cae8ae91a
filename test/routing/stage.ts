import type { AccountId } from '../../src/db/account-id.js';
import { readTasksByKey } from '../../src/routing/read-tasks.sql.js';
import { TaskEvents } from '../../src/routing/task-events.js';
import type { TestExecutor, TestMember } from '../support/factories.js';
import type { HttpAnswer, TestNode } from '../support/node.js';

/** What a test reads of a task; the rest is looked at where it matters. */
export interface TaskBody {
  readonly run_public_id: string;
  readonly task_key: string;
  readonly tool_name: string;
  readonly status: string;
  readonly timeout_ms: number;
  readonly [field: string]: unknown;
}

/** `POST …/tasks` with these steps. */
export const accept = (
  node: TestNode,
  member: TestMember,
  runId: string,
  steps: unknown,
  headers: Record<string, string> = {},
): Promise<HttpAnswer> =>
  node.http('POST', `/agent_api/v1/runs/${runId}/tasks`, { token: member.token, body: { steps }, headers });

/** The one task of an answer to one step; throws with the whole answer where there is none. */
export function taskOf(answer: HttpAnswer): TaskBody {
  const [task] = (answer.body as { tasks?: TaskBody[] }).tasks ?? [];
  if (answer.status !== 201 || !task) throw new Error(`${answer.status} ${answer.text}`);
  return task;
}

/** The status and code of an answer, as in `422 tool_not_served`; a success is its status alone. */
export function outcome(answer: HttpAnswer): string {
  const code = (answer.body as { error?: { code: string } } | undefined)?.error?.code;
  return code === undefined ? String(answer.status) : `${answer.status} ${code}`;
}

export const callStep = (name: string, fields: object = {}): object => ({
  call: { name, input: {}, ...fields },
});

export const toolStep = (name: string, runner?: TestExecutor | string, fields: object = {}): object => ({
  tool: {
    name,
    input: {},
    ...(runner === undefined
      ? {}
      : {
          route: {
            kind: 'runner',
            runner_executor_public_id: typeof runner === 'string' ? runner : runner.id,
          },
        }),
    ...fields,
  },
});

/** Settles a task as its claimant's commit would, on this node: the work module is to the right of routing. */
export async function settle(node: TestNode, run: string, key: string, content = 'done'): Promise<void> {
  await node.db.pool.query(
    `update tasks set status = 'completed', settled_at = clock_timestamp(), content = $3::json, is_error = false
     where run_id = $1 and task_key = $2 and status = 'dispatched'`,
    [run, key, JSON.stringify(content)],
  );
  await tellChanged(node, run, key);
}

/** Claims a task as `executor` would; `captures` writes the evidence that a first claimed write leaves (chapter 7). */
export async function claim(
  node: TestNode,
  executor: TestExecutor,
  run: string,
  key: string,
  { captures = false, checkpoint }: { captures?: boolean; checkpoint?: unknown } = {},
): Promise<void> {
  await node.db.pool.query(
    `update tasks set claimed_by = $3, claim_epoch = 1, claim_token_sha256 = '\\x00', claimed_at = clock_timestamp(),
       capture_generation = case when $4 then 1 end, capture_runner_id = case when $4 then $3::uuid end,
       capture_claimed_at = case when $4 then clock_timestamp() end, capture_checkpoint = $5::json
     where run_id = $1 and task_key = $2 and status = 'dispatched'`,
    [run, key, executor.id, captures, checkpoint === undefined ? null : JSON.stringify(checkpoint)],
  );
  await tellChanged(node, run, key);
}

/** Tells of a task as whoever changed it would. */
async function tellChanged(node: TestNode, run: string, key: string): Promise<void> {
  const { rows } = await node.db.pool.query<{ account_id: AccountId }>(
    `select account_id from runs where id = $1`,
    [run],
  );
  const row = rows[0] && (await node.db.row(readTasksByKey, rows[0].account_id, run, [key]));
  if (row) node.app.get(TaskEvents).changed(row);
}
