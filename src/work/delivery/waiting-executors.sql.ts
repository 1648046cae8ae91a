import type { AccountId } from '../../db/account-id.js';
import { statement } from '../../db/statement.js';
import { isBeforeDeadline } from '../expiry.sql.js';

/**
 * Executors that serve and have calls waiting, behind a given one, in the order of their ids. One look into `tasks_inbox` for
 * each executor that serves.
 */
export const readWaitingExecutors = statement<
  [after: string, limit: number],
  { readonly executor: string; readonly account: AccountId }
>(
  'work_read_waiting_executors',
  `select e.id as executor, e.account_id as account
   from announcements a
   join executors e on e.id = a.executor_id and e.status = 'active'
   cross join lateral (
     select from tasks t
     where t.addressed_id = a.executor_id and t.status = 'dispatched' and t.claimed_by is null and ${isBeforeDeadline('t')}
     limit 1) waiting
   where a.delivery = 'serve' and a.executor_id > $1
   order by a.executor_id limit $2`,
);
