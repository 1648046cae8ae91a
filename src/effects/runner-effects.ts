import { jsonColumn } from '../db/json-text.js';
import type { RunnerEffects } from '../routing/run-effects.js';
import type { FirstWriteRow } from './first-writes.sql.js';

/**
 * The projection of first writes (chapter 7, Evidence). Pruned evidence is `unavailable`, and what is still shown of it is
 * partial. It says that an effect may have happened, never that a write completed.
 */
export function projectEffects(rows: readonly FirstWriteRow[], isPruned: boolean): RunnerEffects {
  const runners = rows.map(firstWriteJson);
  if (isPruned) return { status: 'unavailable', runners, reason: 'execution_details_pruned' };
  return { status: runners.length === 0 ? 'untouched' : 'touched', runners };
}

/** A checkpoint that is absent, `null` or a value is three different facts. */
const firstWriteJson = ({
  runner_id,
  run_id,
  task_key,
  claimed_at,
  checkpoint_text,
}: FirstWriteRow): object => ({
  runner_executor_public_id: runner_id,
  run_public_id: run_id,
  task_key,
  claimed_at,
  checkpoint: jsonColumn(checkpoint_text),
});
