import type { TaskStatus } from '../kernel/task-status.js';

/** What may be tried again (chapter 6, Adjudication): neither what succeeded nor what was called off. */
export const RETRYABLE_STATUSES = [
  'failed',
  'timed_out',
  'uncertain',
] as const satisfies readonly TaskStatus[];

export const isRetryable = (status: TaskStatus): boolean =>
  (RETRYABLE_STATUSES as readonly TaskStatus[]).includes(status);
