/** Every status of a task (chapter 5). A task becomes final once, and stays so until it is retried. */
export const TASK_STATUSES = [
  'needs_approval',
  'dispatched',
  'completed',
  'failed',
  'timed_out',
  'uncertain',
  'canceled',
] as const;

export type TaskStatus = (typeof TASK_STATUSES)[number];

/** The statuses of a task that is not settled. */
export const OPEN_STATUSES = ['needs_approval', 'dispatched'] as const satisfies readonly TaskStatus[];

export const isFinal = (status: TaskStatus): boolean =>
  status !== 'needs_approval' && status !== 'dispatched';
