import type { AccountId } from '../../src/db/account-id.js';
import { ok, type TestAccount } from '../support/factories.js';
import type { HttpAnswer, TestNode } from '../support/node.js';

/** What a prune answers. */
export interface PrunedBody {
  readonly runs: number;
  readonly tasks: number;
  readonly declarations: number;
}

/** `POST …/retention/prune` of the account, on this node. */
export async function prune(node: TestNode, account: TestAccount): Promise<PrunedBody> {
  const path = '/platform_api/v1/retention/prune';
  const answer = ok(await node.http('POST', path, { token: account.platformToken }));
  return (answer.body as { pruned: PrunedBody }).pruned;
}

export const setRetention = (node: TestNode, account: TestAccount, days: unknown): Promise<HttpAnswer> =>
  node.http('PATCH', '/platform_api/v1/retention', {
    token: account.platformToken,
    body: { execution_details_retention_days: days },
  });

/** Lets `days` go by for a run and all of its tasks. */
export async function age(node: TestNode, run: string, days: number): Promise<void> {
  const past = `make_interval(days => $2)`;
  await node.db.pool.query(`update runs set created_at = created_at - ${past} where id = $1`, [run, days]);
  await node.db.pool.query(
    `update tasks set accepted_at = accepted_at - ${past}, started_at = started_at - ${past},
       claimed_at = claimed_at - ${past}, settled_at = settled_at - ${past},
       capture_claimed_at = capture_claimed_at - ${past}
     where run_id = $1`,
    [run, days],
  );
}

/** Adds settled tasks to a run, `days` old, as many as no test would call for one by one. */
export async function addSettledTasks(
  node: TestNode,
  run: string,
  count: number,
  days: number,
): Promise<void> {
  await node.db.pool.query(
    `insert into tasks (run_id, task_key, account_id, principal_id, tool_name, tool_input, effect_profile, status,
       addressed_role, timeout_ms, extension_bound_ms, accepted_at, settled_at, content, is_error)
     select r.id, 'n' || n, r.account_id, r.principal_id, 'read', '{"path":"a"}', '{"kind":"read_only"}', 'completed',
       'runner', 1000, 1000, now() - make_interval(days => $3), now() - make_interval(days => $3), '"done"', false
     from runs r, generate_series(1, $2) n where r.id = $1`,
    [run, count, days],
  );
}

/** Adds `count` runs like this one, `days` old, each with one settled task. */
export async function addRuns(node: TestNode, like: string, count: number, days: number): Promise<string[]> {
  const { rows } = await node.db.pool.query<{ id: string }>(
    `with made as (
       insert into runs (id, account_id, principal_id, default_runner_id, declaration_digest, approval_mode,
         approval_rules, created_at)
       select gen_random_uuid(), account_id, principal_id, default_runner_id, declaration_digest, approval_mode,
         approval_rules, now() - make_interval(days => $3)
       from runs, generate_series(1, $2) where id = $1
       returning id, account_id, principal_id
     ), called as (
       insert into tasks (run_id, task_key, account_id, principal_id, tool_name, tool_input, effect_profile, status,
         addressed_role, timeout_ms, extension_bound_ms, settled_at)
       select id, 'only', account_id, principal_id, 'read', '{}', '{"kind":"read_only"}', 'completed', 'runner', 1000,
         1000, now() - make_interval(days => $3)
       from made
     )
     select id from made`,
    [like, count, days],
  );
  return rows.map(({ id }) => id);
}

/** A run as its row has it. */
export async function runRow(node: TestNode, run: string): Promise<Record<string, unknown>> {
  const { rows } = await node.db.pool.query<Record<string, unknown>>(
    `select details_pruned_at, completed_at, could_have_written, declaration_digest,
       (select count(*)::integer from tasks where run_id = runs.id) as tasks
     from runs where id = $1`,
    [run],
  );
  if (!rows[0]) throw new Error(`There is no run ${run}`);
  return rows[0];
}

export async function accountIdOf(node: TestNode, account: TestAccount): Promise<AccountId> {
  const { rows } = await node.db.pool.query<{ account_id: AccountId }>(
    'select account_id from members where id = $1',
    [account.adminId],
  );
  if (!rows[0]) throw new Error('The account has no administrator');
  return rows[0].account_id;
}
