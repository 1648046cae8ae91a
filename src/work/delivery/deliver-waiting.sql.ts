import type { AccountId } from '../../db/account-id.js';
import { statement } from '../../db/statement.js';
import { type TaskRow, taskColumns } from '../../routing/task-row.js';
import { becomesClaimed } from '../becomes-claimed.sql.js';
import { CLAIM_REFUSAL, CLAIM_TABLES, type ClaimRefusal, isForPeopleOnly } from '../claim-refusal.sql.js';
import { isBeforeDeadline } from '../expiry.sql.js';
import { PEOPLE_ONLY } from '../verdict.js';

const UNSERVED = 'tool_not_served' satisfies ClaimRefusal;

/** A call that was claimed for its executor, or failed since it is served no more; columns are null where there was none. */
export type DeliveredRow = TaskRow & {
  /** Which of the tokens claimed it, from 1; null of a call that failed. */
  readonly place: number | null;
  readonly claim_epoch: number;
  /** More calls wait than were taken. */
  readonly is_more: boolean;
};

/**
 * Claims calls that wait for an executor that serves, the oldest first: as many as there are `tokens` (a JSON list of
 * hexadecimal hashes) and as it may be delivered beside what it has (chapter 8, Delivery). The rules are those of a claim: a
 * call that they forbid stays, and one whose tool is served no more fails. A row that somebody else is moving is left to
 * them, so that two nodes never deliver one call. Inputs of more than `mostBytes` wait for a claim by the verb. At least one
 * row is answered.
 *
 * One round trip. Walks the executor's part of `tasks_inbox`: what is delivered to it, and what it takes.
 */
export const deliverWaiting = statement<
  [accountId: AccountId, executorId: string, tokens: string, mostBytes: number],
  DeliveredRow
>(
  'work_deliver_waiting',
  `with token as materialized (
     select token.place, token.sha256
     from json_array_elements_text($3::json) with ordinality as token (sha256, place)
   ), job as materialized (
     select e.id as executor_id, e.account_id, e.credential_epoch as epoch, null::text as token_sha256,
       a.max_in_flight - calls_delivered(e.id) as places
     from executors e join announcements a on a.executor_id = e.id
     where e.account_id = $1 and e.id = $2 and e.status = 'active' and a.delivery = 'serve'
   ), found as materialized (
     select locked.*, job.places from job cross join lateral (
       select t.run_id, t.task_key, t.seq, case ${CLAIM_REFUSAL} end as refusal,
         ${isForPeopleOnly} as is_for_people_only
       from tasks t join ${CLAIM_TABLES} join members m on m.id = t.principal_id join runs r on r.id = t.run_id
       where t.addressed_id = job.executor_id and t.status = 'dispatched' and t.claimed_by is null
         and ${isBeforeDeadline('t')} and octet_length(t.tool_input::text) <= $4
         and coalesce(case ${CLAIM_REFUSAL} end, '${UNSERVED}') = '${UNSERVED}'
       order by t.seq limit (select count(*) + 1 from token)
       for no key update of t skip locked) locked
   ), free as (
     select run_id, task_key, places, row_number() over (order by seq) as place from found where refusal is null
   ), chosen as materialized (
     select free.run_id, free.task_key, token.place, token.sha256 as token_sha256, job.executor_id, job.epoch
     from free join token on token.place = free.place cross join job
     where free.place <= free.places
   ), moved as (
     update tasks t set ${becomesClaimed}, deadline_before_delivery = t.deadline_at
     from chosen job
     where t.run_id = job.run_id and t.task_key = job.task_key
     returning job.place, t.*
   ), unserved as (
     update tasks t set status = 'failed', settled_at = clock_timestamp(), error_key = '${UNSERVED}',
       error_detail = case when found.is_for_people_only then '${PEOPLE_ONLY}' end
     from found
     where t.run_id = found.run_id and t.task_key = found.task_key and found.refusal = '${UNSERVED}'
     returning null::bigint as place, t.*
   ), acted as materialized (
     select * from moved union all select * from unserved
   )
   select acted.place::integer as place, acted.claim_epoch, ${taskColumns('acted')},
     (select count(*) from found) > (select count(*) from acted) as is_more
   from (select 1) once left join acted on true`,
);
