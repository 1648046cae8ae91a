import type { VerbInput } from '../doors/input.js';
import { refuse } from '../errors/refusal.js';
import { isUuid } from '../kernel/names.js';

/** What is to be restored (chapter 7, Restore). */
export interface RestorationRequest {
  readonly fromRunId: string;
  /** Only these runners; all that were touched where undefined. */
  readonly runnerIds: readonly string[] | undefined;
}

/** Runners that a request names at most. */
const RUNNERS_MAX = 64;

/** Reads the body of `POST …/restorations`. Throws `parameter_missing`, `validation_failed`. */
export function readRestorationRequest(input: VerbInput): RestorationRequest {
  const { from_run_public_id: fromRunId, runner_executor_public_ids: runnerIds } = input.body.object;
  if (fromRunId === undefined) throw refuse('parameter_missing', 'from_run_public_id is required');
  if (!isUuid(fromRunId)) throw refuse('validation_failed', 'from_run_public_id must be a UUID');
  return { fromRunId, runnerIds: readRunnerIds(runnerIds) };
}

function readRunnerIds(value: unknown): string[] | undefined {
  if (value === undefined) return undefined;
  const path = 'runner_executor_public_ids';
  if (!Array.isArray(value)) throw refuse('validation_failed', `${path} must be a list of UUIDs`);
  if (value.length < 1 || value.length > RUNNERS_MAX) {
    throw refuse('validation_failed', `${path} must hold 1 to ${RUNNERS_MAX} UUIDs, not ${value.length}`);
  }
  const ids: string[] = [];
  for (const [index, id] of (value as unknown[]).entries()) {
    if (!isUuid(id)) throw refuse('validation_failed', `${path}[${index}] must be a UUID`);
    if (ids.includes(id.toLowerCase())) throw refuse('validation_failed', `${path}[${index}] repeats ${id}`);
    ids.push(id.toLowerCase());
  }
  return ids;
}
