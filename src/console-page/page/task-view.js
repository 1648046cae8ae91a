import { button, element, facts } from './elements.js';
import { decide } from './decision.js';
import { follow } from './event-stream.js';
import { code, foreign, visible } from './foreign-text.js';
import { folded } from './folded.js';
import { within } from './json-text.js';
import { get, path } from './session.js';
import { claimantName, toolName } from './task-row.js';
import { effectFacts, moment, runLink, state, targetName } from './words.js';

const RECOVERY = {
  retry_with_same_key: 'Retry it with the same key: the tool is keyed, so nothing happens twice.',
  lookup: 'Look it up: the tool can say what has become of the effect.',
};

const FOLDS = [
  ['tool_input', 'Input'],
  ['content', 'Content'],
  ['structured_content', 'Structured content'],
  ['metadata', 'Metadata'],
];

/** One task as it changes: where it went, whether it happened, what it was given and what it answered (chapters 5 and 6). */
export async function taskView(view, { signal, say, ids: [runId, key] }) {
  const head = element('div');
  const actions = element('p', { class: 'bar' });
  const effect = element('div');
  const progress = element('pre', { hidden: true, tabindex: '0', 'aria-label': 'Progress' });
  const folds = FOLDS.map(([field, label]) => ({ field, ...folded(label) }));
  const live = element('span', {}, state('connecting'));
  const heading = element('h1', { tabindex: '-1' }, 'Task ', code(key), ' ', live);
  view.append(
    heading,
    element('p', {}, 'of run ', runLink(runId, code(runId))),
    head,
    actions,
    progress,
    ...folds.map((fold) => fold.element),
    element('h2', {}, 'Effect profile'),
    effect,
  );
  let shown;
  const decided = (text) => {
    show(text);
    heading.focus();
  };
  const show = (text) => {
    if (text === shown) return;
    shown = text;
    const task = JSON.parse(text);
    head.replaceChildren(taskFacts(task));
    effect.replaceChildren(effectFacts(task.effect_profile));
    for (const fold of folds) fold.set(within(text, fold.field));
    progress.hidden = progress.hidden || task.settled_at !== undefined;
    const wasResting = actions.childElementCount > 0;
    if (wasResting !== (task.status === 'needs_approval')) actions.replaceChildren();
    if (task.status === 'needs_approval' && !wasResting) {
      const ask = (verdict) => decide(view, { text: shown, verdict, say, onDecided: decided });
      actions.append(
        button('Approve…', () => ask('approve'), { class: 'primary' }),
        button('Deny…', () => ask('deny'), { class: 'danger' }),
      );
    }
  };
  const where = path`/platform_api/v1/runs/${runId}`;
  show(within((await get(path`/platform_api/v1/runs/${runId}/tasks/${key}`, signal)).text, 'task'));
  const onEvent = ({ name, text }) => {
    const told = within(text, name === 'task' ? 'task' : 'frame');
    if (told === undefined || JSON.parse(within(told, 'task_key')) !== key) return;
    if (name === 'task') return show(told);
    progress.hidden = false;
    progress.textContent = progressWords(JSON.parse(told));
  };
  const onState = (now) => live.replaceChildren(state(now));
  follow(`${where}/events`, { signal, onEvent, onState }).catch((fault) => {
    live.replaceChildren(state('lost'), ` ${fault.message}`);
  });
}

const taskFacts = (task) =>
  facts([
    ['Status', state(task.status)],
    ['Error', task.error && [code(task.error.key), ' ', foreign(task.error.detail ?? '', 1_000)]],
    ['Recovery', task.recovery && RECOVERY[task.recovery]],
    ['Reports an error', task.is_error === true ? 'yes' : undefined],
    ['Title', task.title === undefined ? undefined : foreign(task.title, 300)],
    ['Tool', toolName(task)],
    ['Target', [targetName(task), task.target && element('small', {}, code(task.target.executor_public_id))]],
    ['Addressed to', task.addressed_to && addressee(task.addressed_to)],
    [
      'Claimed by',
      task.claimed_by && [claimantName(task), element('small', {}, code(task.claimed_by.executor_public_id))],
    ],
    ['Approval', task.approval && approvalWords(task.approval)],
    ['Generation', String(task.generation)],
    ['Timeout', `${task.timeout_ms.toLocaleString('en')} ms`],
    ['Accepted', moment(task.accepted_at)],
    ['Started', task.started_at && moment(task.started_at)],
    ['Claimed', task.claimed_at && moment(task.claimed_at)],
    ['Deadline', task.deadline_at && moment(task.deadline_at)],
    ['Settled', task.settled_at && moment(task.settled_at)],
  ]);

const addressee = ({ role, executor_public_id: id }) => [
  role.replaceAll('_', ' '),
  id === undefined ? '' : element('small', {}, code(id)),
];

const approvalWords = ({ origin, decided_by: by, decided_at: at }) => [
  `by ${origin}`,
  by ? [' ', code(by)] : '',
  at ? [', ', moment(at)] : '',
];

const progressWords = ({ text_tail: tail, structured }) =>
  [
    tail === undefined ? '' : visible(String(tail)),
    structured === undefined ? '' : visible(JSON.stringify(structured, undefined, 2)),
  ]
    .filter(Boolean)
    .join('\n');
