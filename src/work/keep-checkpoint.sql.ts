import { statement } from '../db/statement.js';
import { holdsClaim, isTaskOf, jobRows } from './jobs.sql.js';

/**
 * Keeps the checkpoint of a commit that came after a sweep or a cancel (chapter 6): in the capture of the claim's own
 * generation, once, and never behind a commit. The rest of the task stays as it is.
 */
export const keepCheckpoint = statement<[jobs: string], never>(
  'work_keep_checkpoint',
  `update tasks t set capture_checkpoint = job.checkpoint::json
   from (${jobRows('checkpoint text')}) job
   where ${isTaskOf('t', 'job')} and case
     when job.checkpoint is null or t.capture_checkpoint is not null then false
     when t.status not in ('timed_out', 'uncertain', 'canceled') then false
     when t.claim_epoch <> job.epoch or not ${holdsClaim('t', 'job')} then false
     else coalesce(t.capture_generation = t.generation, false) end`,
);
