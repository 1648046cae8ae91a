import { statement } from '../db/statement.js';
import { type TaskRow, taskColumns } from '../routing/task-row.js';
import { type AdjudgedJob, adjudgedRows, becomesAdjudged } from './adjudged.sql.js';
import { isTaskOf } from './jobs.sql.js';
import { RETRYABLE_STATUSES } from './retryable.js';
import { HELD, serving } from './same-target.sql.js';

export interface RetryJob extends AdjudgedJob {
  /** Who retries calls: a person may where an agent did. */
  readonly of_agent: boolean;
}

/**
 * Begins a new generation of a task, of a list of one `RetryJob` (chapter 6, Adjudication): only of the generation that
 * was looked at, while its target is served as it was, and on a run that is neither stopped nor pruned, whose row is locked
 * against both. Claim and result are forgotten, so that every token of before is stale; the capture stays.
 */
export const retryTask = statement<[jobs: string], TaskRow>(
  'work_retry',
  `with job as materialized (
     select * from ${adjudgedRows('of_agent boolean')}
   ), run as (
     select r.id from job cross join lateral (
       select r.id from runs r
       where r.id = job.run_id and r.account_id = job.account_id and r.stopped_at is null and r.details_pruned_at is null
       for key share) r
   ), moved as (
     update tasks t set generation = t.generation + 1, claimed_by = null, claim_epoch = null, claim_token_sha256 = null,
       claimed_at = null, deadline_before_delivery = null, title = null, metadata = null, of_agent = job.of_agent,
       ${becomesAdjudged}
     from job join run on run.id = job.run_id, members m
     where ${isTaskOf('t', 'job')} and m.id = t.principal_id and case
       when t.status not in (${RETRYABLE_STATUSES.map((status) => `'${status}'`).join(', ')}) then false
       when t.generation <> job.generation then false
       else ${serving('t', 'm', HELD)} is not distinct from job.serving end
     returning t.*
   )
   select ${taskColumns('moved')} from moved`,
);
