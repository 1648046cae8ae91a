import { statement } from '../db/statement.js';
import { absence, diagnosed, holdsClaim, jobRows } from './jobs.sql.js';

/**
 * Whether a claim still holds, of a list of one job; no row where there is no such run. A pure read of four rows by their
 * primary keys. `is_active`: the task is not settled and before its deadline.
 */
export const readClaimStatus = statement<
  [jobs: string],
  {
    readonly refusal: 'execution_details_pruned' | 'not_found' | 'not_claimant' | null;
    readonly is_active: boolean | null;
  }
>(
  'work_claim_status',
  `select case ${absence('r', 't')}
       when ${holdsClaim('t', 'job')} and t.claim_epoch = job.epoch then null
       else 'not_claimant' end as refusal,
     t.status = 'dispatched' and t.deadline_at > clock_timestamp() as is_active
   ${diagnosed(jobRows())}`,
);
