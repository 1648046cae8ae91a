import { button, element, row } from './elements.js';
import { decide } from './decision.js';
import { foreign } from './foreign-text.js';
import { within } from './json-text.js';
import { pagedList } from './paged-list.js';
import { toolName } from './task-row.js';
import { effectWords, moment, targetName, taskLink } from './words.js';

const EVERY_MS = 5_000;

/** The calls that rest for a person's decision, in order of acceptance (chapter 6). */
export function approvalsView(view, { signal, say }) {
  const heading = element('h1', { tabindex: '-1' }, 'Approvals');
  const ask = (text, verdict) =>
    decide(view, {
      text,
      verdict,
      say,
      onClose: () => void list.load().then(() => document.activeElement === document.body && heading.focus()),
    });
  const list = pagedList({
    signal,
    path: '/platform_api/v1/approvals',
    name: 'tasks',
    label: 'Calls that rest for a decision',
    columns: ['Call', 'Target', 'Effect', 'Input', 'Rests until', 'Decision'],
    keyOf: ({ run_public_id: runId, task_key: key }) => `${runId}/${key}`,
    render: (item) => restingRow(item, ask),
    empty: 'Nothing rests for a decision.',
    everyMs: EVERY_MS,
  });
  view.append(heading, list.element);
}

const restingRow = ({ value: task, text }, ask) =>
  row([
    [...toolName(task), element('small', {}, taskLink(task))],
    targetName(task),
    effectWords(task.effect_profile),
    element('code', {}, foreign(within(text, 'tool_input'), 120)),
    moment(task.deadline_at),
    element(
      'span',
      { class: 'bar' },
      button('Approve…', () => ask(text, 'approve'), {
        'aria-label': `Approve ${task.tool_name}, ${task.task_key}…`,
      }),
      button('Deny…', () => ask(text, 'deny'), { 'aria-label': `Deny ${task.tool_name}, ${task.task_key}…` }),
    ),
  ]);
