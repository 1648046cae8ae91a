import { statement } from '../db/statement.js';
import { type TaskRow, taskColumns } from '../routing/task-row.js';
import { CLAIM_REFUSAL, CLAIM_TABLES, isForPeopleOnly } from './claim-refusal.sql.js';
import { isTaskOf, jobRows } from './jobs.sql.js';
import { PEOPLE_ONLY } from './verdict.js';

/**
 * Settles an unclaimed task `failed` whose tool its executor does not serve any more (chapter 5), found out by a claim.
 * The rule is asked again under the row's lock: no row where it holds no longer.
 */
export const settleUnserved = statement<[jobs: string], TaskRow>(
  'work_settle_unserved',
  `with moved as (
     update tasks t set status = 'failed', settled_at = clock_timestamp(), error_key = 'tool_not_served',
       error_detail = case when ${isForPeopleOnly} then '${PEOPLE_ONLY}' end
     from (${jobRows()}) job join ${CLAIM_TABLES}, members m, runs r
     where ${isTaskOf('t', 'job')} and m.id = t.principal_id and r.id = t.run_id
       and (case ${CLAIM_REFUSAL} end) = 'tool_not_served'
     returning t.*
   )
   select ${taskColumns('moved')} from moved`,
);
