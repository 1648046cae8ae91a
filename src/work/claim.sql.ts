import { statement } from '../db/statement.js';
import { type TaskRow, taskColumns } from '../routing/task-row.js';
import { becomesClaimed } from './becomes-claimed.sql.js';
import { CLAIM_REFUSAL, CLAIM_TABLES } from './claim-refusal.sql.js';
import { isTaskOf, jobRows } from './jobs.sql.js';

/**
 * Claims up to 32 tasks, each under its row's lock and only where no rule forbids it: the rows that acted, by ordinal. The
 * clock restarts, and the capture is written, in the very statement. A provider's row is held against a revocation, whose
 * settlement cannot see whom a pool row is just being claimed by.
 *
 * One round trip for a flush. Every table by primary key. PostgreSQL's CPU: 0.33 ms for a claim alone, 0.05 ms a claim where
 * 32 go together (writes with a capture, 200 B of input).
 */
export const claimTasks = statement<[jobs: string], TaskRow & { readonly ordinal: number }>(
  'work_claim',
  `with job as materialized (${jobRows('is_pool boolean')}
   ), provider as materialized (
     select locked.id from job cross join lateral (
       select e.id from executors e
       where e.id = job.executor_id and job.is_pool and e.status = 'active' and e.credential_epoch = job.epoch
       for share) locked
   ), moved as (
     update tasks t set ${becomesClaimed}
     from job join ${CLAIM_TABLES}, members m, runs r
     where ${isTaskOf('t', 'job')} and m.id = t.principal_id and r.id = job.of_run
       and (not job.is_pool or exists (select from provider where provider.id = job.executor_id))
       and (case ${CLAIM_REFUSAL} end) is null
     returning job.ordinal, t.*
   )
   select moved.ordinal, ${taskColumns('moved')} from moved`,
);
