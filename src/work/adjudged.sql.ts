import type { AccountId } from '../db/account-id.js';
import { APPROVAL_HOLD_MS } from '../kernel/expiry.js';
import { approvalJson } from '../routing/accept-tasks.sql.js';
import type { Verdict } from './verdict.js';

/** What a task becomes, and what must still be so. Members are the columns of `adjudgedRows`. */
export interface AdjudgedJob extends Verdict {
  readonly account_id: AccountId;
  readonly run_id: string;
  readonly task_key: string;
  /** The generation that was looked at. */
  readonly generation: number;
  /** Who served the target when it was looked at (`serving`). */
  readonly serving: string | null;
}

/** SQL: the job of parameter 1, a JSON list of one, as rows `job`; `more` declares what a verb brings beside. */
export const adjudgedRows = (more = ''): string => `
  json_to_recordset($1::json) as job (
    account_id uuid, run_id uuid, task_key text, generation integer, serving text, status text, effect_profile text,
    announced_sha256 text, approval_origin text, approval_by uuid, error_key text, error_detail text, content text,
    structured_content text${more === '' ? '' : `, ${more}`})`;

/** SQL: the assignments that make the task `t` what `job` says, on a fresh clock. */
export const becomesAdjudged = `
  status = job.status, effect_profile = coalesce(job.effect_profile::json, t.effect_profile),
  announced_sha256 = decode(job.announced_sha256, 'hex'), content = job.content::json,
  structured_content = job.structured_content::json, is_error = case job.status when 'completed' then false end,
  error_key = job.error_key, error_detail = job.error_detail,
  (started_at, deadline_at, settled_at, approval) = (
    select case when job.status in ('dispatched', 'completed') then clock.at end,
      case job.status when 'dispatched' then clock.at + t.timeout_ms * interval '1 millisecond'
        when 'needs_approval' then clock.at + ${APPROVAL_HOLD_MS} * interval '1 millisecond' end,
      case when job.status in ('completed', 'failed') then clock.at end,
      ${approvalJson('job', 'clock.at')}
    from (select clock_timestamp() as at offset 0) clock)`;
