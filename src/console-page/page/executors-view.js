import { element, row } from './elements.js';
import { code, foreign } from './foreign-text.js';
import { pagedList } from './paged-list.js';
import { moment, state } from './words.js';

const EVERY_MS = 10_000;

/** Every executor of the account, revoked ones too: who is there, at which epoch, as what (chapter 1). */
export function executorsView(view, { signal }) {
  const list = pagedList({
    signal,
    path: '/platform_api/v1/executors',
    name: 'executors',
    label: 'Executors',
    columns: ['Name', 'Kind', 'Status', 'Presence', 'Last seen', 'Epoch', 'Machine', 'Modules', 'Scope'],
    keyOf: ({ public_id: id }) => id,
    render: ({ value }) => executorRow(value),
    empty: 'No executor is registered yet.',
    everyMs: EVERY_MS,
  });
  view.append(element('h1', { tabindex: '-1' }, 'Executors'), list.element);
}

const executorRow = (one) =>
  row([
    [foreign(one.display_name), element('small', {}, code(one.public_id))],
    one.kind.replaceAll('_', ' '),
    state(statusOf(one)),
    state(one.presence),
    moment(one.last_seen_at),
    String(one.credential_epoch),
    code(one.machine),
    one.modules.map((name) => [code(name), ' ']).flat(),
    one.assignment_scope.replaceAll('_', ' '),
  ]);

const statusOf = ({ status, shutdown_requested_at: asked }) =>
  status === 'active' && asked !== null ? 'shutting_down' : status;
