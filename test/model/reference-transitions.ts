import type { Stage } from './reference-routing.js';
import { CLOCKS, type Task } from './world.js';

/** How a task moves (chapters 5 and 6). */

/** A task enters a stage, on a fresh clock. */
export function become(task: Task, stage: Stage): void {
  task.status = stage.status;
  task.approval = stage.approval;
  task.error = stage.error;
  task.restsWith = stage.restsWith;
  task.content = undefined;
  task.isError = stage.status === 'completed' ? false : undefined;
  task.clock = undefined;
  if (stage.status === 'dispatched') task.clock = task.timeout;
  if (stage.status === 'needs_approval') task.clock = CLOCKS.hold;
  task.isOld = false;
}

export function settle(task: Task, status: Task['status'], error?: Task['error']): void {
  task.status = status;
  task.error = error;
  task.clock = undefined;
  task.isOld = false;
}

/** The expiry table, top down. */
export function expire(task: Task): void {
  const { kind, idempotency } = task.profile;
  if (task.status === 'needs_approval') settle(task, 'timed_out', { key: 'approval_expired' });
  else if (!task.claim || kind !== 'write' || idempotency === 'intrinsic') {
    settle(task, 'timed_out', { key: 'tool_timeout' });
  } else settle(task, 'uncertain', { key: 'tool_uncertain', detail: 'the effect may have happened' });
}
