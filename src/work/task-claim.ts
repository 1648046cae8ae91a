import { createHash } from 'node:crypto';
import type { AccountId } from '../db/account-id.js';
import type { ExecutorCaller } from '../doors/caller.js';
import { requiredText, type VerbInput } from '../doors/input.js';
import { refuse } from '../errors/refusal.js';
import { isTaskKey, isUuid } from '../kernel/names.js';

/** Who says what about which task: the part that every job of the executor plane has. Members are columns of `jobRows`. */
export interface TaskClaim {
  readonly account_id: AccountId;
  readonly executor_id: string;
  readonly epoch: number;
  readonly run_id: string;
  readonly task_key: string;
  /** Hexadecimal; the token itself is never stored. */
  readonly token_sha256: string;
}

/** The claim that a call of the executor plane is about. Throws `parameter_missing`, and `not_found` for what is no name. */
export function taskClaim(caller: ExecutorCaller, input: VerbInput, token: string): TaskClaim {
  return claimOn(caller, requiredText(input, 'run_public_id'), requiredText(input, 'task_key'), token);
}

/** The claim of `token` on a task. Throws `not_found` where no task can have that name. */
export function claimOn(caller: ExecutorCaller, runId: string, taskKey: string, token: string): TaskClaim {
  if (!isUuid(runId) || !isTaskKey(taskKey)) throw refuse('not_found');
  return {
    account_id: caller.accountId,
    executor_id: caller.executorId,
    epoch: caller.epoch,
    run_id: runId,
    task_key: taskKey,
    token_sha256: createHash('sha256').update(token).digest('hex'),
  };
}

/** The token in a body, never in an address. Throws `parameter_missing`, or `validation_failed` for what is no string. */
export function claimTokenOf(input: VerbInput): string {
  const token = input.body.object['claim_token'];
  if (token === undefined) throw refuse('parameter_missing', 'claim_token is required');
  if (typeof token !== 'string') throw refuse('validation_failed', 'claim_token must be a string');
  return token;
}

/** Names the task, for lanes and caches. */
export const nameOf = (claim: Pick<TaskClaim, 'run_id' | 'task_key'>): string =>
  `${claim.run_id}/${claim.task_key}`;

/** Jobs as a statement takes them: ordinals are places in `jobs`, rows in the order in which everybody locks tasks. */
export function jobsJson(jobs: readonly TaskClaim[]): string {
  const ordered = jobs.map((job, ordinal) => ({ ...job, ordinal }));
  if (ordered.length > 1) ordered.sort((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1));
  return JSON.stringify(ordered);
}
