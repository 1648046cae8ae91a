import type { AccountId } from '../db/account-id.js';
import { statement } from '../db/statement.js';
import { type TaskRow, taskColumns } from '../routing/task-row.js';
import { type AdjudgedJob, adjudgedRows, becomesAdjudged } from './adjudged.sql.js';
import { expiredErrorDetail, expiredErrorKey, expiredStatus } from './expiry.sql.js';
import { isTaskOf } from './jobs.sql.js';
import { HELD, serving } from './same-target.sql.js';

export interface DecideJob extends AdjudgedJob {
  /** A denial holds whatever is announced. */
  readonly is_denial: boolean;
  /** What the call rested with when it was looked at, hexadecimal. */
  readonly seen_sha256: string | null;
}

/**
 * Decides a resting call, of a list of one job (chapter 6, Adjudication): only while it rests and its hold lasts, and an
 * approval only while it rests with what was looked at and its target is served as it was. Of two decisions at once the
 * second waits for the row and finds that it rests no more.
 */
export const decideTask = statement<[jobs: string], TaskRow>(
  'work_decide',
  `with moved as (
     update tasks t set ${becomesAdjudged}
     from ${adjudgedRows('is_denial boolean, seen_sha256 text')}, members m
     where ${isTaskOf('t', 'job')} and m.id = t.principal_id and case
       when t.status <> 'needs_approval' or t.deadline_at <= clock_timestamp() then false
       when job.is_denial then true
       when t.generation <> job.generation then false
       when t.announced_sha256 is distinct from decode(job.seen_sha256, 'hex') then false
       else ${serving('t', 'm', HELD)} is not distinct from job.serving end
     returning t.*
   )
   select ${taskColumns('moved')} from moved`,
);

/** Settles a resting call whose hold has ended by the expiry rule, ahead of the sweep; no row where it was faster. */
export const expireResting = statement<[accountId: AccountId, runId: string, key: string], TaskRow>(
  'work_expire_resting',
  `with moved as (
     update tasks t set status = ${expiredStatus('t')}, settled_at = clock_timestamp(),
       error_key = ${expiredErrorKey('t')}, error_detail = ${expiredErrorDetail('t')}
     where t.account_id = $1 and t.run_id = $2 and t.task_key = $3
       and case when t.status = 'needs_approval' then t.deadline_at <= clock_timestamp() else false end
     returning t.*
   )
   select ${taskColumns('moved')} from moved`,
);
