import { statement } from '../db/statement.js';
import { type TaskRow, taskColumns } from '../routing/task-row.js';
import { CLAIM_REFUSAL, type ClaimRefusal } from './claim-refusal.sql.js';
import { absence, diagnosed, jobRows } from './jobs.sql.js';

/** Columns of the task are null where there is none. */
export type ClaimDiagnosis = TaskRow & {
  readonly refusal: ClaimRefusal | 'execution_details_pruned' | 'not_found' | null;
};

/**
 * Why a claim did not act, of a list of one job; no row where there is no such run. A null refusal says that the state
 * changed since: the claim is tried again. Off the hot path: only what was refused, or repeated, comes here.
 */
export const diagnoseClaim = statement<[jobs: string], ClaimDiagnosis>(
  'work_diagnose_claim',
  `select case ${absence('r', 't')} ${CLAIM_REFUSAL} end as refusal, ${taskColumns('t')}
   ${diagnosed(jobRows())}
   left join announcements a on a.executor_id = e.id
   left join members m on m.id = t.principal_id`,
);
