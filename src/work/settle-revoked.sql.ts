import { statement } from '../db/statement.js';
import { OPEN_STATUSES } from '../kernel/task-status.js';
import { type TaskRow, taskColumns } from '../routing/task-row.js';
import { expiredErrorDetail, expiredErrorKey, expiredStatus } from './expiry.sql.js';

/** SQL: a value for unclaimed tasks, and another by the expiry rule for claimed ones. */
const settled = (unclaimed: string, claimed: string): string =>
  `case when t.claimed_by is null then ${unclaimed} else ${claimed} end`;

/**
 * Settles what a revoked executor has open (chapter 1): unclaimed tasks `failed`, claimed ones by the expiry rule. Runs in
 * the transaction of the revocation, behind its write. Tasks are locked in the order in which everybody locks them. Costs
 * one walk over the open tasks of the installation (`tasks_due`): a revocation is rare.
 */
export const settleRevoked = statement<[executorId: string], TaskRow>(
  'work_settle_revoked',
  `with open as materialized (
     select t.run_id, t.task_key from tasks t
     where t.status in (${OPEN_STATUSES.map((status) => `'${status}'`).join(', ')})
       and (t.addressed_id = $1 or t.claimed_by = $1)
     order by t.run_id, t.task_key collate "C"
     for no key update
   ), moved as (
     update tasks t set status = ${settled(`'failed'`, expiredStatus('t'))}, settled_at = clock_timestamp(),
       error_key = ${settled(`'executor_revoked'`, expiredErrorKey('t'))},
       error_detail = ${settled('null', expiredErrorDetail('t'))}
     from open where t.run_id = open.run_id and t.task_key = open.task_key
     returning t.*
   )
   select ${taskColumns('moved')} from moved`,
);
