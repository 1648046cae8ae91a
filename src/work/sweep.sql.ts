import { statement } from '../db/statement.js';
import { OPEN_STATUSES } from '../kernel/task-status.js';
import { type TaskRow, taskColumns } from '../routing/task-row.js';
import { expiredErrorDetail, expiredErrorKey, expiredStatus } from './expiry.sql.js';

/**
 * Settles at most `limit` tasks whose deadline has passed, the longest due first, by the expiry rule (chapter 6). A row
 * that another node or a claimant holds is left to it, so that no task is settled twice and nobody waits.
 *
 * Costs one look at the first entry of `tasks_due` while nothing is due: `now()` and not `clock_timestamp()`, which no
 * index answers.
 */
export const sweepDue = statement<[limit: number], TaskRow>(
  'work_sweep',
  `with due as materialized (
     select t.run_id, t.task_key from tasks t
     where t.status in (${OPEN_STATUSES.map((status) => `'${status}'`).join(', ')}) and t.deadline_at <= now()
     order by t.deadline_at limit $1
     for no key update skip locked
   ), moved as (
     update tasks t set status = ${expiredStatus('t')}, settled_at = clock_timestamp(),
       error_key = ${expiredErrorKey('t')}, error_detail = ${expiredErrorDetail('t')}
     from due where t.run_id = due.run_id and t.task_key = due.task_key
     returning t.*
   )
   select ${taskColumns('moved')} from moved`,
);
