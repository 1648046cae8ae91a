import type { AccountId } from '../db/account-id.js';
import { statement } from '../db/statement.js';
import { eligible } from '../identity/eligibility.sql.js';
import { isForPeopleOnly } from './claim-refusal.sql.js';
import { isBeforeDeadline } from './expiry.sql.js';

/** A row of an inbox as the statement answers it; texts are JSON kept as it was sent. */
export interface InboxRow {
  readonly kind: 'tool_call' | 'approval';
  readonly seq: string;
  readonly run_id: string;
  readonly conversation_id: string | null;
  readonly parent_run_id: string | null;
  readonly task_key: string;
  readonly tool_name: string;
  readonly tool_alias: string | null;
  readonly tool_input_text: string;
  readonly tool_call_id: string | null;
  readonly effect_profile_text: string;
  readonly started_at: Date | null;
  readonly deadline_at: Date;
  readonly timeout_ms: number;
  readonly claimed: boolean;
  readonly addressed_role: string;
  readonly addressed_id: string | null;
  /** Rows found behind the cursor, at most one more than the page asked for. */
  readonly found: number;
}

/** A page of an inbox ends early at this many bytes (chapter 6). */
const PAGE_LIMIT_BYTES = 512 * 1024;
/** What a row weighs beside its JSON, at most. */
const ROW_BYTES = 1_024;

const names = `t.run_id, t.task_key, t.seq`;
/** In order of acceptance, behind the cursor and before the deadline: what is due is as good as settled. */
const next = `and t.seq > $3 and ${isBeforeDeadline('t')} order by t.seq limit $4 + 1`;

/**
 * What waits for an executor (chapter 6, Inbox), oldest first: calls addressed to it; of the pools whose names it announces
 * what nobody has claimed and it is eligible for; of any pool what it has claimed, whatever it announces now; for an agent's
 * application that agent's approvals. Whole rows until the page is full, at least one.
 *
 * Each part walks its own index in order of acceptance and reads no more rows than the page has; inputs are read only of
 * rows on it.
 */
export const readInbox = statement<
  [accountId: AccountId, executorId: string, after: number, limit: number],
  InboxRow
>(
  'work_inbox',
  `with me as (
     select e.* from executors e where e.account_id = $1 and e.id = $2
   ), found as (
     (select ${names} from tasks t where t.addressed_id = $2 and t.status = 'dispatched' ${next})
     union all
     (select pooled.* from me
      join announcements a on a.executor_id = me.id and me.kind = 'tool_provider'
      cross join unnest(a.tool_names) as announced (name)
      cross join lateral (
        select ${names} from tasks t join members m on m.id = t.principal_id
        where t.account_id = $1 and t.tool_name = announced.name and t.status = 'dispatched'
          and t.addressed_role = 'tool_provider' and t.claimed_by is null
          and not ${isForPeopleOnly} and ${eligible('me', 'm')} ${next}) pooled)
     union all
     (select ${names} from tasks t
      where t.claimed_by = $2 and t.status = 'dispatched' and t.addressed_id is null ${next})
     union all
     (select resting.* from me cross join lateral (
        select ${names} from tasks t
        where t.principal_id = me.agent_id and t.status = 'needs_approval' ${next}) resting)
   ), page as (
     select found.*, count(*) over () as total from found order by seq limit $4 + 1
   ), shown as (
     select t.*, r.conversation_id, r.parent_run_id, page.total, row_number() over (order by page.seq) as place,
       sum(${ROW_BYTES} + octet_length(t.tool_input::text) + 6 * coalesce(octet_length(t.tool_call_id), 0))
         over (order by page.seq) as bytes
     from page join tasks t on t.run_id = page.run_id and t.task_key = page.task_key join runs r on r.id = page.run_id
   )
   select case status when 'needs_approval' then 'approval' else kind end as kind, seq, run_id, conversation_id,
     parent_run_id, task_key, tool_name, tool_alias, tool_input::text as tool_input_text, tool_call_id,
     effect_profile::text as effect_profile_text, started_at, deadline_at, timeout_ms, claimed_by is not null as claimed,
     addressed_role, addressed_id, total::integer as found
   from shown where place <= $4 and (place = 1 or bytes <= ${PAGE_LIMIT_BYTES}) order by seq`,
);
