import { button, element, row } from './elements.js';
import { foreign } from './foreign-text.js';
import { pagedList } from './paged-list.js';
import { moment, runLink, state } from './words.js';

/** Seldom: a page of runs carries their declarations. */
const EVERY_MS = 30_000;
const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The runs of the account, newest first (chapter 5). */
export function runsView(view, { signal }) {
  const list = pagedList({
    signal,
    path: '/platform_api/v1/runs',
    name: 'runs',
    label: 'Runs',
    columns: ['Run', 'Status', 'Effects', 'Default runner', 'Approval', 'Created', 'Completed'],
    keyOf: ({ public_id: id }) => id,
    render: ({ value }) => runRow(value),
    empty: 'There is no run yet.',
    everyMs: EVERY_MS,
  });
  view.append(element('h1', { tabindex: '-1' }, 'Runs'), finder(), list.element);
}

/** Leads to the run whose id somebody has. */
function finder() {
  const fault = element('span', { id: 'find-fault', class: 'note', role: 'alert' });
  const attributes = { id: 'find', type: 'text', spellcheck: 'false', autocomplete: 'off' };
  const input = element('input', { ...attributes, 'aria-describedby': 'find-fault' });
  const find = (event) => {
    event.preventDefault();
    const id = input.value.trim().toLowerCase();
    if (ID.test(id)) location.hash = `#/runs/${id}`;
    else fault.textContent = 'A run has a UUID.';
  };
  const label = element('label', { for: 'find' }, 'Run id');
  return element('form', { class: 'bar', onsubmit: find }, label, input, button('Open', find), fault);
}

const runRow = (run) =>
  row([
    runLink(run.public_id, element('code', {}, run.public_id)),
    state(run.status),
    state(run.runner_effects.status),
    defaultRunnerOf(run),
    run.approval_mode,
    moment(run.created_at),
    moment(run.completed_at),
  ]);

/** The name that the run froze for its default runner. */
export function defaultRunnerOf({ default_runner_executor_public_id: id, environment }) {
  if (id === null) return '–';
  const known = environment?.runner_candidates.find((one) => one.runner_executor_public_id === id);
  return known ? foreign(known.display_name) : element('code', {}, id);
}
