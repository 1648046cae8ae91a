import type { AccountId } from '../db/account-id.js';
import { statement } from '../db/statement.js';
import { type TaskRow, taskColumns } from '../routing/task-row.js';
import { isBeforeDeadline } from './expiry.sql.js';

/** A resting call on a page; `has_more`: another rests behind it. */
export type RestingRow = TaskRow & { readonly has_more: boolean };

/** A page is cut where inputs reach 4 MiB; it has one row at least. */
const PAGE_BYTES = 4 * 1024 * 1024;

/** Resting calls behind the cursor `$2`, in order of acceptance; what is due is as good as settled. */
const next = `t.status = 'needs_approval' and t.seq > $2::bigint and ${isBeforeDeadline('t')} order by t.seq limit $3`;

/** SQL: the page over the rows that `found` selects; `$3` counts one more than is shown. */
const page = (found: string): string => `
  with found as (${found}
  ), measured as (
    select t.run_id, t.task_key, sum(octet_length(t.tool_input::text)) over (order by t.seq) as bytes_so_far,
      row_number() over (order by t.seq) as place, lead(t.seq) over (order by t.seq) is not null as has_more
    from found join tasks t on t.run_id = found.run_id and t.task_key = found.task_key
  )
  select ${taskColumns('t')}, measured.has_more
  from measured join tasks t on t.run_id = measured.run_id and t.task_key = measured.task_key
  where measured.place = 1 or (measured.bytes_so_far <= ${PAGE_BYTES} and measured.place < $3)
  order by t.seq`;

/** What an administrator may decide: all that rests in the account. */
export const readRestingOfAccount = statement<
  [accountId: AccountId, after: string, limit: number],
  RestingRow
>(
  'approvals_read_of_account',
  page(`select t.run_id, t.task_key from tasks t where t.account_id = $1 and ${next}`),
);

/** What a human may decide: the calls of their own runs and of the agents that they steward. */
export const readRestingOfHuman = statement<
  [accountId: AccountId, after: string, limit: number, humanId: string],
  RestingRow
>(
  'approvals_read_of_human',
  page(`
    select mine.run_id, mine.task_key from members m
    cross join lateral (
      select t.run_id, t.task_key, t.seq from tasks t where t.principal_id = m.id and ${next}) mine
    where m.account_id = $1 and (m.id = $4 or m.steward_id = $4)
    order by mine.seq limit $3`),
);
