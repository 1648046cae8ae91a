import { row } from './elements.js';
import { foreign } from './foreign-text.js';
import { moment, state, targetName, taskLink } from './words.js';

export const TASK_COLUMNS = [
  'Task',
  'Tool',
  'Target',
  'Status',
  'Claimed by',
  'Accepted',
  'Settled',
  'Outcome',
];

/** A task on one line: where it went, whether it happened. */
export const taskRow = ({ value: task }) =>
  row([
    taskLink(task, foreign(task.task_key)),
    toolName(task),
    targetName(task),
    state(task.status),
    claimantName(task),
    moment(task.accepted_at),
    moment(task.settled_at),
    outcomeOf(task),
  ]);

/** The served tool, and the callable by which it was called where that is another name. */
export const toolName = ({ tool_name: served, tool_alias: alias }) =>
  alias === undefined || alias === served ? [foreign(served)] : [foreign(served), ' as ', foreign(alias)];

export function claimantName({ claimed_by: claimed, target }) {
  if (!claimed) return '–';
  const isTarget = target?.executor_public_id === claimed.executor_public_id;
  return foreign(isTarget && target.display_name ? target.display_name : claimed.executor_public_id);
}

function outcomeOf({ error, is_error: isError, title, content }) {
  const said = title ?? (typeof content === 'string' ? content : '');
  const detail = foreign(error?.detail ?? said, 80);
  if (error) return [error.key, error.detail || said ? ': ' : '', detail];
  return [isError ? 'reports an error: ' : '', detail];
}
