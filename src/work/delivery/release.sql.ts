import { statement } from '../../db/statement.js';
import { type TaskRow, taskColumns } from '../../routing/task-row.js';
import { holdsClaim, isTaskOf, jobRows } from '../jobs.sql.js';
import type { TaskClaim } from '../task-claim.js';

export interface ReleaseJob extends TaskClaim {
  readonly generation: number;
}

/** SQL: the capture is that of this very claim; null where there is none. */
const isOwnCapture = `(t.capture_generation = t.generation and t.capture_claimed_at = t.claimed_at)`;

const kept = (column: string): string => `case when ${isOwnCapture} then null else t.${column} end`;

/**
 * Takes back up to 32 claims whose calls nobody has heard (chapter 8, Delivery): the rows that acted, by ordinal. The deadline
 * is again what it was, and the capture that this very claim wrote is withdrawn, the only exception to chapters 6 and 7. Only
 * while that claim holds, in its generation and before its deadline: else the sweep, or somebody else, was first.
 *
 * One round trip for a flush; tasks by primary key.
 */
export const releaseCalls = statement<[jobs: string], TaskRow & { readonly ordinal: number }>(
  'work_release',
  `with job as materialized (${jobRows('generation integer')}
   ), moved as (
     update tasks t set claimed_by = null, claim_epoch = null, claim_token_sha256 = null, claimed_at = null,
       deadline_at = t.deadline_before_delivery, deadline_before_delivery = null,
       capture_generation = ${kept('capture_generation')}, capture_runner_id = ${kept('capture_runner_id')},
       capture_claimed_at = ${kept('capture_claimed_at')}, capture_checkpoint = ${kept('capture_checkpoint')}
     from job
     where ${isTaskOf('t', 'job')} and case
       when t.status <> 'dispatched' or t.generation <> job.generation then false
       when t.deadline_before_delivery is null or t.deadline_at <= clock_timestamp() then false
       else coalesce(${holdsClaim('t', 'job')}, false) end
     returning job.ordinal, t.*
   )
   select moved.ordinal, ${taskColumns('moved')} from moved`,
);
