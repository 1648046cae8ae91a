import { statement } from '../db/statement.js';
import { type TaskRow, taskColumns } from '../routing/task-row.js';
import { COMMIT_REFUSAL } from './commit-refusal.sql.js';
import { expiredErrorDetail, expiredErrorKey, expiredStatus } from './expiry.sql.js';
import { isTaskOf, jobRows } from './jobs.sql.js';
import type { TaskClaim } from './task-claim.js';

/** A claim's result. JSON travels as text, so that its bytes reach the columns untouched. */
export interface CommitJob extends TaskClaim {
  /** The result is refused: only a late task is settled, by the expiry rule. */
  readonly only_late: boolean;
  readonly outcome: 'completed' | 'failed';
  readonly error_key: 'tool_failed' | 'result_unstorable' | null;
  readonly error_detail: string | null;
  readonly content: string | null;
  readonly structured_content: string | null;
  readonly is_error: boolean | null;
  readonly title: string | null;
  readonly metadata: string | null;
  /** `metadata.checkpoint`: null where it is absent, `'null'` where it is null. */
  readonly checkpoint: string | null;
}

const RESULT_COLUMNS = `only_late boolean, outcome text, error_key text, error_detail text, content text,
  structured_content text, is_error boolean, title text, metadata text, checkpoint text`;

/** SQL: a part of the result, which a late commit loses. */
const inTime = (value: string): string => `case when not late then ${value} end`;

/**
 * Commits up to 32 results, each under its task's lock and only where no rule forbids it: the rows that acted, by ordinal.
 * The deadline wins: a task that is late becomes what the expiry rule says, and only the checkpoint is kept, in the capture
 * of its own generation. Time is read once for a row.
 *
 * One round trip for a flush. Every table by primary key. PostgreSQL's CPU: 0.26 ms for a commit alone, 0.04 ms a commit where
 * 32 go together (200 B of content).
 */
export const commitTasks = statement<[jobs: string], TaskRow & { readonly ordinal: number }>(
  'work_commit',
  `with job as materialized (${jobRows(RESULT_COLUMNS)}
   ), moved as (
     update tasks t set
       capture_checkpoint = case when t.capture_generation = t.generation then job.checkpoint::json
         else t.capture_checkpoint end,
       (status, settled_at, error_key, error_detail, content, structured_content, is_error, title, metadata) = (
         select case when late then ${expiredStatus('t')} else job.outcome end, at,
           case when late then ${expiredErrorKey('t')} else job.error_key end,
           case when late then ${expiredErrorDetail('t')} else job.error_detail end,
           ${inTime('job.content::json')}, ${inTime('job.structured_content::json')}, ${inTime('job.is_error')},
           ${inTime('job.title')}, ${inTime('job.metadata::json')}
         from (select clock.at, clock.at >= t.deadline_at as late
               from (select clock_timestamp() as at offset 0) clock) moment)
     from job join executors e on e.id = job.executor_id and e.account_id = job.account_id
     where ${isTaskOf('t', 'job')} and (case ${COMMIT_REFUSAL} end) is null
     returning job.ordinal, t.*
   )
   select moved.ordinal, ${taskColumns('moved')} from moved`,
);
