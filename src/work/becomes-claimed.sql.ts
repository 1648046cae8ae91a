import { isRunnerWrite } from '../routing/runner-write.sql.js';

/** SQL: no claim has written the capture yet, and this one does. */
const isFirstWrite = `(t.capture_claimed_at is null and ${isRunnerWrite('t')})`;

/**
 * SQL: the assignments that make the task `t` the claim of a `job`, which names executor, epoch and token: the clock restarts,
 * and the first claim of a write on a runner writes the capture (chapter 7). Time is read once for a row.
 */
export const becomesClaimed = `
  claimed_by = job.executor_id, claim_epoch = job.epoch, claim_token_sha256 = decode(job.token_sha256, 'hex'),
  (claimed_at, deadline_at, capture_generation, capture_runner_id, capture_claimed_at) = (
    select clock.at, clock.at + t.timeout_ms * interval '1 millisecond',
      case when ${isFirstWrite} then t.generation else t.capture_generation end,
      case when ${isFirstWrite} then job.executor_id else t.capture_runner_id end,
      case when ${isFirstWrite} then clock.at else t.capture_claimed_at end
    from (select clock_timestamp() as at offset 0) clock)`;
