import { eligible } from '../identity/eligibility.sql.js';

/** Why a claim does not act; `claimed` is no refusal: this token holds the task already. */
export type ClaimRefusal =
  | 'unauthorized'
  | 'executor_revoked'
  | 'not_addressed_here'
  | 'not_claimable_kind'
  | 'task_not_claimable'
  | 'already_claimed'
  | 'stale_claim'
  | 'not_eligible'
  | 'tool_not_served'
  | 'claimed';

/**
 * SQL: an agent called, and the announcement `a` has the name for people only (chapter 6, Requests): a provider that joined
 * the pool, or an announcement without a description, since the call was accepted.
 */
export const isForPeopleOnly = `coalesce(t.of_agent and t.tool_name = any (a.operator_names), false)`;

/** SQL: the executor `e` serves the task: it announces the name, and to whoever called. */
const serves = `(coalesce(t.tool_name = any (a.tool_names), false) and not ${isForPeopleOnly})`;

/** SQL: addressed to this executor, or a pool row that it serves. Its own claim stays its own. */
const isAddressed = `coalesce(t.addressed_id = e.id or t.claimed_by = e.id, false)
  or (t.addressed_role = 'tool_provider' and e.kind = 'tool_provider' and ${serves})`;

/**
 * SQL: the first rule of chapter 6, Claim, that forbids it, in the order of the chapter; null where none does. Over a job,
 * its task `t`, run `r`, executor `e`, that executor's announcement `a` (or nulls) and the principal `m`. The claim acts
 * where this is null and the diagnosing read answers it, so that there is one order. A resting call is an approval for the
 * application of its agent; a task that failed unclaimed for want of a server says so to every claim (chapter 5).
 */
export const CLAIM_REFUSAL = `
  when e.credential_epoch <> job.epoch then 'unauthorized'
  when t.status = 'needs_approval' and e.agent_id = t.principal_id then 'not_claimable_kind'
  when not (${isAddressed}) then 'not_addressed_here'
  when t.kind <> 'tool_call' then 'not_claimable_kind'
  when e.status = 'revoked' then 'executor_revoked'
  when t.status = 'failed' and t.claimed_by is null and t.error_key in ('executor_revoked', 'tool_not_served')
    then t.error_key
  when t.status <> 'dispatched' or t.deadline_at <= clock_timestamp() or r.stopped_at is not null
    then 'task_not_claimable'
  when t.claimed_by is not null then case
    when t.claimed_by <> job.executor_id or t.claim_token_sha256 <> decode(job.token_sha256, 'hex') then 'already_claimed'
    when t.claim_epoch <> job.epoch then 'stale_claim'
    else 'claimed' end
  when not ${eligible('e', 'm')} then 'not_eligible'
  when not ${serves} then 'tool_not_served'`;

/** SQL: the tables that `CLAIM_REFUSAL` reads beside the job and the task, each by its primary key. */
export const CLAIM_TABLES = `
  executors e on e.id = job.executor_id and e.account_id = job.account_id
  left join announcements a on a.executor_id = e.id`;
