import type { AccountId } from '../db/account-id.js';
import { statement } from '../db/statement.js';
import { admits, eligible } from '../identity/eligibility.sql.js';
import { APPROVAL_HOLD_MS } from '../kernel/expiry.js';
import { isGivenToPool } from './pool.sql.js';
import { isRunnerWrite } from './runner-write.sql.js';
import { type TaskRow, taskColumns } from './task-row.js';

/** One call, decided and not yet inserted. Member names are the columns of the recordset below. */
export interface TaskDraft {
  /** Place among the steps: rows are answered, and accepted, in this order. */
  readonly ordinal: number;
  readonly task_key: string;
  readonly tool_name: string;
  readonly tool_alias: string | null;
  readonly tool_call_id: string | null;
  /** JSON as text, so that its bytes reach the column untouched. */
  readonly tool_input: string;
  readonly effect_profile: string;
  readonly addressed_role: TaskRow['addressed_role'];
  readonly addressed_id: string | null;
  /** The announcement version that the profile and the timeout come from; null for a pool and for the kernel. */
  readonly announcement_version: number | null;
  readonly timeout_ms: number;
  readonly extension_bound_ms: number;
  readonly status: 'dispatched' | 'needs_approval' | 'completed' | 'failed';
  /** Who let it go or denied it; null while it rests. */
  readonly approval_origin: 'mode' | 'rule' | 'human' | 'kernel' | null;
  readonly approval_by: string | null;
  readonly error_key: string | null;
  readonly error_detail: string | null;
  readonly content: string | null;
  readonly structured_content: string | null;
  /** Of a call that rests: the entries it rests with, hexadecimal (`entryDigest`). */
  readonly announced_sha256: string | null;
  /** With `claim_epoch`, of a call that is to be delivered: accepted, it is claimed by this token. Hexadecimal. */
  readonly claim_token_sha256?: string;
  /** The executor's epoch that it is claimed for: at another the call waits. */
  readonly claim_epoch?: number;
}

/** One request: calls of one caller on one run, all of which become tasks, or none. */
export interface AcceptJob {
  readonly account_id: AccountId;
  readonly run_id: string;
  readonly credential_id: string;
  readonly caller_id: string;
  /** Whose scope must admit the executors (`CallAuthor`). */
  readonly author_id: string;
  /** The author is an agent, which never reaches an operator capability: the claim asks again (chapter 6, Requests). */
  readonly of_agent: boolean;
  readonly drafts: readonly TaskDraft[];
}

const DRAFT_COLUMNS = `
    ordinal integer, task_key text, tool_name text, tool_alias text, tool_call_id text, tool_input text,
    effect_profile text, addressed_role text, addressed_id uuid, announcement_version bigint, timeout_ms integer,
    extension_bound_ms integer, status text, approval_origin text, approval_by uuid, error_key text, error_detail text,
    content text, structured_content text, announced_sha256 text, claim_token_sha256 text, claim_epoch integer`;

/** The parameter of `acceptTasks`: every draft of every request as one row. */
export function draftsJson(jobs: readonly AcceptJob[]): string {
  const rows = jobs.flatMap(({ drafts, ...asked }, request) =>
    drafts.map((draft) => ({ request, ...asked, ...draft })),
  );
  return JSON.stringify(rows);
}

/**
 * SQL: whether the executor `e` is eligible for the run's principal `m`, and its scope admits the caller `c` where that is
 * somebody else: who adds a call to another's run reaches no executor that is not their own to reach. Whether it is open is
 * asked once: a second time, under an `or`, would be planned as a scan of all credentials.
 */
export const mayReach = (e: string, m: string, c: string): string =>
  `(${eligible(e, m)} and (${c}.id = ${m}.id or ${e}.kind = 'agent_application' or ${admits(e, c)}))`;

/** SQL: a credential is live. */
export const isLiveCredential = (k: string): string =>
  `(${k}.revoked_at is null and (${k}.expires_at is null or ${k}.expires_at > now()))`;

/** The wire's spelling of a time, for JSON that is made in the statement. */
const iso = (time: string): string => `to_char(${time} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** SQL: the `approval` of a row `d` that says by whom it was decided at `at`; null where nobody has. */
export const approvalJson = (d: string, at: string): string => `
  case when ${d}.approval_origin is not null then json_strip_nulls(json_build_object(
    'origin', ${d}.approval_origin, 'decided_by', ${d}.approval_by, 'decided_at', ${iso(at)})) end`;

/** SQL: the call goes at once, and comes with a claim for the executor's very epoch. */
const isToDeliver = `(draft.claim_token_sha256 is not null and draft.status = 'dispatched' and coalesce((
  select held.credential_epoch = draft.claim_epoch from held where held.id = draft.addressed_id limit 1), false))`;

const ifClaimed = (value: string): string => `case when is_claimed then ${value} end`;
const ifCaptured = (value: string): string =>
  `case when is_claimed and ${isRunnerWrite('decided')} then ${value} end`;

/**
 * Accepts requests of 1 to 64 calls in one statement, each request whole or not at all (chapter 5). A request holds only
 * for a run that is neither stopped nor pruned, whose row it locks against both; a live credential; executors that are
 * eligible now and announce what the drafts were made of. A key that is taken raises unique_violation. A call that brings a
 * claim is accepted claimed, with the capture that a claim writes, while its executor may be delivered more (chapter 8).
 *
 * One round trip however many requests and steps: at 64 in flight a shared statement costs a third of single ones. Runs,
 * credentials, members, executors and announcements are reached by primary key, never by scanning: the `limit 1` keeps a
 * plan for many rows from joining whole tables.
 */
export const acceptTasks = statement<[drafts: string], TaskRow>(
  'accept_tasks',
  `with draft as materialized (
     select * from json_to_recordset($1::json) as draft (
       request integer, account_id uuid, run_id uuid, credential_id uuid, caller_id uuid, author_id uuid,
       of_agent boolean, ${DRAFT_COLUMNS})
   ), asked as materialized (
     select distinct account_id, run_id from draft order by run_id
   ), run as materialized (
     select locked.* from asked cross join lateral (
       select r.id, r.account_id, r.principal_id, clock_timestamp() as at from runs r
       where r.id = asked.run_id and r.account_id = asked.account_id
         and r.stopped_at is null and r.details_pruned_at is null
       for key share) locked
   ), held as materialized (
     -- against a revocation, which settles what is addressed to it: one of the two sees the other
     select locked.* from (
       select distinct account_id, addressed_id from draft where addressed_id is not null order by addressed_id) d
     cross join lateral (
       select e.id, e.credential_epoch from executors e
       where e.id = d.addressed_id and e.account_id = d.account_id and e.status = 'active'
       for share) locked
   ), admitted as materialized (
     select run.principal_id, run.at, draft.*, ${isToDeliver} as is_to_deliver
     from draft
     join run on run.id = draft.run_id and run.account_id = draft.account_id
     join lateral (
       select from credentials k where k.id = draft.credential_id and k.account_id = draft.account_id
         and k.member_id = draft.caller_id and ${isLiveCredential('k')} limit 1) k on true
     join lateral (
       select * from members where id = run.principal_id and account_id = run.account_id limit 1) m on true
     join lateral (
       select * from members where id = draft.author_id and account_id = run.account_id limit 1) c on true
     where case draft.addressed_role
       when 'kernel' then true
       when 'tool_provider' then exists (
         select from announcements a join executors e on e.id = a.executor_id
         where a.account_id = run.account_id and a.tool_names @> array[draft.tool_name]
           and e.kind = 'tool_provider' and ${mayReach('e', 'm', 'c')}
           and ${isGivenToPool('run.account_id', 'draft.tool_name')})
       else exists (
         select from executors e join announcements a on a.executor_id = e.id
         where e.account_id = run.account_id and e.id = draft.addressed_id and e.kind = draft.addressed_role
           and a.version = draft.announcement_version and ${mayReach('e', 'm', 'c')})
         and (select true from held where held.id = draft.addressed_id limit 1)
       end
   ), whole as materialized (
     select request from draft group by request
     having count(*) = (select count(*) from admitted where admitted.request = draft.request)
   ), ready as materialized (
     select admitted.*,
       row_number() over (partition by addressed_id, is_to_deliver order by request, ordinal) as place
     from admitted
     where request in (select whole.request from whole)
   ), free as materialized (
     -- how many more calls each executor may be delivered; until this is committed nobody else delivers to it
     select asked.addressed_id, a.max_in_flight - calls_delivered(asked.addressed_id) as places
     from (select distinct addressed_id from ready where is_to_deliver order by addressed_id) asked
     cross join lateral (
       select max_in_flight from announcements where executor_id = asked.addressed_id limit 1) a
   ), task as (
     insert into tasks (run_id, task_key, account_id, principal_id, tool_name, tool_alias, tool_call_id, tool_input,
       effect_profile, status, target_id, addressed_role, addressed_id, timeout_ms, extension_bound_ms, accepted_at,
       started_at, deadline_at, settled_at, content, structured_content, is_error, error_key, error_detail, approval,
       announced_sha256, of_agent, claimed_by, claim_epoch, claim_token_sha256, claimed_at, deadline_before_delivery,
       capture_generation, capture_runner_id, capture_claimed_at)
     select run_id, task_key, account_id, principal_id, tool_name, tool_alias, tool_call_id, tool_input::json,
       effect_profile::json, status, case addressed_role when 'runner' then addressed_id end, addressed_role, addressed_id,
       timeout_ms, extension_bound_ms, at,
       case when status in ('dispatched', 'completed') then at end,
       case status when 'dispatched' then at + timeout_ms * interval '1 millisecond'
         when 'needs_approval' then at + ${APPROVAL_HOLD_MS} * interval '1 millisecond' end,
       case when status in ('completed', 'failed') then at end,
       content::json, structured_content::json, case status when 'completed' then false end, error_key, error_detail,
       ${approvalJson('decided', 'at')}, decode(announced_sha256, 'hex'), of_agent,
       ${ifClaimed('addressed_id')}, ${ifClaimed('claim_epoch')}, ${ifClaimed(`decode(claim_token_sha256, 'hex')`)},
       ${ifClaimed('at')}, ${ifClaimed(`at + timeout_ms * interval '1 millisecond'`)},
       ${ifCaptured('1')}, ${ifCaptured('addressed_id')}, ${ifCaptured('at')}
     from (
       select ready.*, is_to_deliver and place <= (
         select places from free where free.addressed_id = ready.addressed_id limit 1) as is_claimed
       from ready) decided
     order by request, ordinal
     returning *
   )
   select ${taskColumns('task')} from task order by seq`,
);

/** Why `acceptTasks` answered no row: one row for each draft; none where the run is gone. */
export interface AcceptDiagnosis {
  readonly is_live: boolean;
  readonly is_stopped: boolean;
  readonly is_pruned: boolean;
  readonly ordinal: number;
  readonly addressed_role: TaskRow['addressed_role'];
  /** Whether the executor may be reached; true where nobody in particular is addressed. */
  readonly may_reach: boolean;
}

/** Who asks, for what run, with what: `drafts` is the JSON text of a list of `TaskDraft`. */
type DiagnosisParams = [
  accountId: AccountId,
  runId: string,
  credentialId: string,
  callerId: string,
  authorId: string,
  drafts: string,
];

/** The diagnosing read behind `acceptTasks`: it changes nothing, and looks at one draft after the other. */
export const diagnoseAcceptance = statement<DiagnosisParams, AcceptDiagnosis>(
  'accept_diagnose',
  `select exists (select from credentials k where k.id = $3 and k.member_id = $4 and ${isLiveCredential('k')}) as is_live,
          r.stopped_at is not null as is_stopped, r.details_pruned_at is not null as is_pruned,
          draft.ordinal, draft.addressed_role,
          draft.addressed_id is null or exists (
            select from executors e where e.account_id = r.account_id and e.id = draft.addressed_id
              and e.kind = draft.addressed_role and ${mayReach('e', 'm', 'c')}) as may_reach
   from runs r
   join members m on m.id = r.principal_id
   join members c on c.account_id = r.account_id and c.id = $5
   cross join json_to_recordset($6::json) as draft (${DRAFT_COLUMNS})
   where r.account_id = $1 and r.id = $2
   order by draft.ordinal`,
);
