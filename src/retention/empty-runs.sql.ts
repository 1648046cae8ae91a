import type { AccountId } from '../db/account-id.js';
import { statement } from '../db/statement.js';

/** Pruned runs that one statement empties at most. */
const RUNS = 100;

/**
 * Deletes at most `limit` tasks of pruned runs; `is_more` says whether some may be left. Runs that another node empties just
 * now are left to it. A run leaves the queue with the statement that finds fewer than `limit`: then nothing of it is left.
 *
 * Every task it locks is final and refused to everybody, so that nobody waits for it. Tasks by primary key.
 */
export const emptyRuns = statement<
  [accountId: AccountId, limit: number],
  { readonly tasks: number; readonly is_more: boolean }
>(
  'retention_empty_runs',
  `with emptying as materialized (
     select q.account_id, q.run_id from pruned_runs_to_empty q where q.account_id = $1
     order by q.run_id limit ${RUNS} for update skip locked
   ), doomed as materialized (
     select t.run_id, t.task_key from emptying e
     cross join lateral (select run_id, task_key from tasks where run_id = e.run_id limit $2) t
     limit $2
   ), deleted as (
     delete from tasks t using doomed d where t.run_id = d.run_id and t.task_key = d.task_key
     returning 1
   ), emptied as (
     delete from pruned_runs_to_empty q using emptying e
     where q.account_id = e.account_id and q.run_id = e.run_id and (select count(*) from doomed) < $2
   )
   select (select count(*) from deleted)::integer as tasks,
     (select count(*) from doomed) = $2 or (select count(*) from emptying) = ${RUNS} as is_more`,
);
