import { holdsClaim } from './jobs.sql.js';

/** Why a commit does not act; `settled` and `in_time` are no refusals by themselves, see below. */
export type CommitRefusal =
  'unauthorized' | 'not_addressed_here' | 'task_not_running' | 'stale_claim' | 'settled' | 'in_time';

/** SQL: this executor's row. An unclaimed row of a pool is every provider's, a claimed one its claimant's. */
const isOwnRow = `coalesce(t.addressed_id = e.id or t.claimed_by = e.id, false)
  or (t.addressed_role = 'tool_provider' and t.claimed_by is null and e.kind = 'tool_provider')`;

/**
 * SQL: the first rule of chapter 6, Commit, that applies, in the order of the chapter; null where the commit settles the
 * task. Over a job, its task `t` and the executor `e`. `settled`: the task is final, the answer is that task whatever the
 * body. `in_time`: the job may only settle what is late, since its result is refused, and the task is not.
 */
export const COMMIT_REFUSAL = `
  when e.status = 'revoked' or e.credential_epoch <> job.epoch then 'unauthorized'
  when not (${isOwnRow}) then 'not_addressed_here'
  when t.status = 'needs_approval' or t.claimed_by is null then 'task_not_running'
  when t.claim_epoch <> job.epoch or not ${holdsClaim('t', 'job')} then 'stale_claim'
  when t.status <> 'dispatched' then 'settled'
  when job.only_late and t.deadline_at > clock_timestamp() then 'in_time'`;
