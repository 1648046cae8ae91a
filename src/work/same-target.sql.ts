import type { AccountId } from '../db/account-id.js';
import { statement } from '../db/statement.js';
import { admits, eligible } from '../identity/eligibility.sql.js';
import { isGivenToPool } from '../routing/pool.sql.js';
import { type TaskRow, taskColumns } from '../routing/task-row.js';
import { absence } from './jobs.sql.js';

/** SQL: the lock of a statement that acts on what `serving` answers. */
export const HELD = 'for share of a, e';

const providers = (t: string, admitted: string, lock: string): string => `(
  select string_agg(provider.id || '@' || provider.version, ' ' order by provider.id) from (
    select e.id, a.version
    from announcements a join executors e on e.id = a.executor_id and e.kind = 'tool_provider'
    where a.account_id = ${t}.account_id and a.tool_names @> array[${t}.tool_name] and ${admitted} ${lock}) provider)`;

/**
 * SQL: who serves the target of the task `t` of the principal `m` now, as `<executor>@<announcement version>`, separated by
 * blanks; null where nobody is left. Who is addressed is not asked whether it is eligible, which passes. Of a pool those that
 * are, or where none is just now those that will be.
 *
 * A statement that acts on it holds executors and announcements by `HELD`: a revocation or a replacement that is under way is
 * waited for and its outcome read, and another waits until the statement has acted.
 */
export const serving = (
  t: string,
  m: string,
  lock: '' | typeof HELD = '',
): string => `case ${t}.addressed_role
  when 'kernel' then null
  when 'tool_provider' then case when ${isGivenToPool(`${t}.account_id`, `${t}.tool_name`)} then coalesce(
    ${providers(t, eligible('e', m), lock)},
    ${providers(t, `e.status = 'active' and ${admits('e', m)}`, lock)}) end
  else (
    select e.id || '@' || a.version from executors e join announcements a on a.executor_id = e.id
    where e.id = ${t}.addressed_id and e.status = 'active' ${lock}) end`;

/** A task that is to be adjudicated, and what its target is now. Columns of the task are null where there is none. */
export type AdjudicatedTask = TaskRow & {
  readonly refusal: 'execution_details_pruned' | 'not_found' | null;
  readonly is_stopped: boolean;
  /** It is open, and its time is over. */
  readonly is_due: boolean;
  /** What it rests with, hexadecimal. */
  readonly announced_sha256: string | null;
  /** An agent called, in this generation. */
  readonly of_agent: boolean;
  readonly executor_status: 'active' | 'revoked' | null;
  readonly serving: string | null;
};

/** One task with the facts that a decision about it rests on; the statement that acts asks again for `serving`. */
export const readAdjudicated = statement<[accountId: AccountId, runId: string, key: string], AdjudicatedTask>(
  'work_read_adjudicated',
  `select case ${absence('r', 't')} end as refusal, r.stopped_at is not null as is_stopped,
     coalesce(t.settled_at is null and t.deadline_at <= clock_timestamp(), false) as is_due,
     encode(t.announced_sha256, 'hex') as announced_sha256, t.of_agent,
     (select e.status from executors e where e.id = t.addressed_id) as executor_status,
     ${serving('t', 'm')} as serving, ${taskColumns('t')}
   from runs r
   join members m on m.id = r.principal_id
   left join tasks t on t.run_id = r.id and t.task_key = $3
   where r.account_id = $1 and r.id = $2`,
);
