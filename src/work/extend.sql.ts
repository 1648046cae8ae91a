import { statement } from '../db/statement.js';
import { type TaskRow, taskColumns } from '../routing/task-row.js';
import { absence, diagnosed, holdsClaim, isTaskOf, jobRows } from './jobs.sql.js';
import type { TaskClaim } from './task-claim.js';

export interface ExtendJob extends TaskClaim {
  readonly timeout_ms: number;
}

/** Why an extension does not act. */
export type ExtendRefusal =
  'unauthorized' | 'extension_too_long' | 'not_extendable' | 'not_claimant' | 'stale_claim';

/** SQL: the first rule of chapter 6, Extend, that forbids it, in the order of the chapter; null where none does. */
const EXTEND_REFUSAL = `
  when e.status = 'revoked' or e.credential_epoch <> job.epoch then 'unauthorized'
  when job.timeout_ms > t.extension_bound_ms then 'extension_too_long'
  when t.status <> 'dispatched' or t.claimed_by is null or t.deadline_at <= clock_timestamp() then 'not_extendable'
  when not ${holdsClaim('t', 'job')} then 'not_claimant'
  when t.claim_epoch <> job.epoch then 'stale_claim'`;

const jobs = jobRows('timeout_ms integer');

/** Moves the deadline of a claimed task, of a list of one job: no row where a rule forbids it. One round trip. */
export const extendTask = statement<[jobs: string], TaskRow>(
  'work_extend',
  `with moved as (
     update tasks t set deadline_at = clock_timestamp() + job.timeout_ms * interval '1 millisecond'
     from (${jobs}) job join executors e on e.id = job.executor_id and e.account_id = job.account_id
     where ${isTaskOf('t', 'job')} and (case ${EXTEND_REFUSAL} end) is null
     returning t.*
   )
   select ${taskColumns('moved')} from moved`,
);

/** Why an extension did not act; no row where there is no such run. */
export const diagnoseExtend = statement<
  [jobs: string],
  { readonly refusal: ExtendRefusal | 'execution_details_pruned' | 'not_found' | null }
>(
  'work_diagnose_extend',
  `select case ${absence('r', 't')} ${EXTEND_REFUSAL} end as refusal ${diagnosed(jobs)}`,
);
