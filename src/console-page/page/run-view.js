import { element, facts, row, table } from './elements.js';
import { follow } from './event-stream.js';
import { code, foreign } from './foreign-text.js';
import { folded } from './folded.js';
import { listed, within } from './json-text.js';
import { pagedList } from './paged-list.js';
import { defaultRunnerOf } from './runs-view.js';
import { get, isAborted, path } from './session.js';
import { TASK_COLUMNS, taskRow } from './task-row.js';
import { counted, moment, runLink, state, taskLink } from './words.js';

/** How long changes are gathered before the page follows them. */
const GATHER_MS = 1_000;

const EVIDENCE = {
  untouched: 'The evidence is complete: no write was claimed on any runner.',
  touched:
    'A write was claimed: an effect may have happened there. It is no proof that the write was completed.',
  unavailable: 'The evidence is not complete: details were pruned, and what is still shown is part of it.',
};

/** A run, what it may have touched, and its tasks as they change (chapters 5 and 7). */
export async function runView(view, { signal, ids: [runId] }) {
  const head = element('div');
  const effects = element('section', { 'aria-labelledby': 'effects' });
  const tasks = element('section', { 'aria-labelledby': 'tasks' });
  view.append(element('h1', { tabindex: '-1' }, 'Run ', code(runId)), head, effects, tasks);
  const where = path`/platform_api/v1/runs/${runId}`;
  let shown;
  const readRun = async () => {
    const { value, text } = await get(where, signal);
    if (text === shown) return value.run;
    const isSameEvidence =
      within(text, 'run', 'runner_effects') === within(shown ?? '{}', 'run', 'runner_effects');
    shown = text;
    head.replaceChildren(runFacts(value.run));
    if (!isSameEvidence) effects.replaceChildren(...evidence(value.run, within(text, 'run')));
    return value.run;
  };
  const run = await readRun();
  if (run.details_pruned_at) {
    tasks.append(
      element('h2', { id: 'tasks' }, 'Tasks'),
      element('p', {}, 'Retention has pruned the tasks.'),
    );
    return;
  }
  followTasks(tasks, { signal, where, readRun });
}

const runFacts = (run) =>
  facts([
    ['Status', state(run.status)],
    ['Approval', run.approval_mode],
    ['Default runner', defaultRunnerOf(run)],
    ['Callables', run.tool_definitions && counted(run.tool_definitions.length, 'callable')],
    ['Conversation', run.conversation_public_id ? code(run.conversation_public_id) : undefined],
    ['Continues', run.parent_run_public_id ? runLink(run.parent_run_public_id) : undefined],
    ['Created', moment(run.created_at)],
    ['Completed', moment(run.completed_at)],
    ['Details pruned', run.details_pruned_at && moment(run.details_pruned_at)],
  ]);

/** For each runner of the run whether it may have been touched, and what was captured. */
function evidence(run, text) {
  const { status, runners } = run.runner_effects;
  const texts = listed(within(text, 'runner_effects', 'runners') ?? '[]');
  const candidates = run.environment?.runner_candidates ?? [];
  const nameOf = new Map(candidates.map((one) => [one.runner_executor_public_id, one.display_name]));
  const captured = new Set(runners.map(({ runner_executor_public_id: id }) => id));
  const named = (id) => [nameOf.has(id) ? foreign(nameOf.get(id)) : '', element('small', {}, code(id))];
  const rows = [
    ...runners.map((one, at) =>
      row([
        named(one.runner_executor_public_id),
        state('touched'),
        taskLink(one, foreign(one.task_key)),
        moment(one.claimed_at),
        checkpoint(within(texts[at], 'checkpoint')),
      ]),
    ),
    ...[...nameOf.keys()]
      .filter((id) => !captured.has(id))
      .map((id) => row([named(id), state(status === 'unavailable' ? status : 'untouched'), '–', '–', '–'])),
  ];
  const { frame, body } = table('Effects', ['Runner', 'State', 'First write', 'Claimed', 'Checkpoint']);
  body.append(...rows);
  return [
    element('h2', { id: 'effects' }, 'Effects ', state(status)),
    element('p', {}, EVIDENCE[status]),
    ...(rows.length > 0 ? [frame] : []),
  ];
}

/** Absent, `null` and a value are three different facts (chapter 7). */
function checkpoint(text) {
  if (text === undefined) return 'none left';
  if (text === 'null') return code('null');
  const shown = folded('Checkpoint');
  shown.set(text);
  return shown.element;
}

/** The tasks page by page, brought up to date by the run's events; the counts are of all tasks. */
function followTasks(section, { signal, where, readRun }) {
  const live = element('span', {}, state('connecting'));
  const counts = element('p', { class: 'note' });
  const statuses = new Map();
  const list = pagedList({
    signal,
    path: `${where}/tasks`,
    name: 'tasks',
    label: 'Tasks',
    columns: TASK_COLUMNS,
    keyOf: ({ task_key: key }) => key,
    render: taskRow,
    empty: 'The run has accepted no task.',
  });
  section.append(element('h2', { id: 'tasks' }, 'Tasks ', live), counts, list.element);

  let gathering = false;
  let isNew = false;
  const changed = () => {
    if (gathering) return;
    gathering = true;
    setTimeout(() => {
      gathering = false;
      if (signal.aborted) return;
      counts.textContent = countWords(statuses);
      readRun().catch(ignoreAbort);
      if (isNew && list.isLast()) void list.load();
      isNew = false;
    }, GATHER_MS);
  };
  const onEvent = ({ name, text }) => {
    if (name !== 'task') return;
    const taskText = within(text, 'task');
    const task = JSON.parse(taskText);
    if (list.has(task.task_key)) list.put({ key: task.task_key, value: task, text: taskText });
    else isNew = true;
    if (statuses.get(task.task_key) === task.status) return;
    statuses.set(task.task_key, task.status);
    changed();
  };
  const onState = (now) => live.replaceChildren(state(now));
  follow(`${where}/events`, { signal, onEvent, onState }).catch((fault) => {
    live.replaceChildren(state('lost'), ` ${fault.message}`);
  });
}

function countWords(statuses) {
  const counts = new Map();
  for (const status of statuses.values()) counts.set(status, (counts.get(status) ?? 0) + 1);
  const parts = [...counts].map(
    ([status, count]) => `${count.toLocaleString('en')} ${status.replaceAll('_', ' ')}`,
  );
  return [counted(statuses.size, 'task'), ...parts].join(' · ');
}

/** The next change reads it again; what the reader sees stays. */
function ignoreAbort(fault) {
  if (!isAborted(fault)) console.warn(fault.message);
}
