import type { AccountId } from '../db/account-id.js';
import { statement } from '../db/statement.js';
import { OPEN_STATUSES } from '../kernel/task-status.js';
import { type TaskRow, taskColumns } from './task-row.js';

/**
 * Marks a run stopped, once, under a lock that waits for every acceptance under way. What those accepted is seen by the
 * next statement of the transaction only, which is why cancelling is a statement of its own. No row when it was pruned.
 */
export const markStopped = statement<[accountId: AccountId, id: string], { id: string }>(
  'run_mark_stopped',
  `with locked as (
     select r.id from runs r where r.account_id = $1 and r.id = $2 and r.details_pruned_at is null for update
   )
   update runs r set stopped_at = coalesce(r.stopped_at, clock_timestamp()) from locked where r.id = locked.id
   returning r.id`,
);

/**
 * Cancels every open task of a run, in one guarded statement; one that settles at the same moment stays as it is. Tasks are
 * locked in the order in which everybody locks them, so that a shared statement of commits and a stop never wait for each
 * other.
 */
export const cancelOpenTasks = statement<[accountId: AccountId, runId: string], TaskRow>(
  'run_cancel_open_tasks',
  `with open as materialized (
     select t.run_id, t.task_key from tasks t
     where t.account_id = $1 and t.run_id = $2 and t.status in (${OPEN_STATUSES.map((s) => `'${s}'`).join(', ')})
     order by t.run_id, t.task_key collate "C"
     for no key update
   ), canceled as (
     update tasks t set status = 'canceled', settled_at = clock_timestamp()
     from open where t.run_id = open.run_id and t.task_key = open.task_key
     returning t.*
   )
   select ${taskColumns('canceled')} from canceled order by seq`,
);
