import type { AccountId } from '../db/account-id.js';
import { statement } from '../db/statement.js';
import { OPEN_STATUSES } from '../kernel/task-status.js';
import { type TaskRow, taskColumns } from '../routing/task-row.js';

/** Cancels one open task; no row where it is final or missing. Its claim stays on the row: whom to tell. */
export const cancelTask = statement<[accountId: AccountId, runId: string, key: string], TaskRow>(
  'work_cancel',
  `with canceled as (
     update tasks t set status = 'canceled', settled_at = clock_timestamp()
     where t.account_id = $1 and t.run_id = $2 and t.task_key = $3
       and case when t.status in (${OPEN_STATUSES.map((status) => `'${status}'`).join(', ')}) then true else false end
     returning t.*
   )
   select ${taskColumns('canceled')} from canceled`,
);
