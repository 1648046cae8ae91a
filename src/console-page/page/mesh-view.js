import { button, element, facts, isInert, row, setInert, table } from './elements.js';
import { code, foreign, shortened } from './foreign-text.js';
import { get } from './session.js';
import { counted, moment } from './words.js';

/** Rows that are shown of a list before somebody asks for more. */
const STEP = 100;

/** What answers on the bus, what should and does not, and what nobody expects (chapter 8). Asks each time anew. */
export async function meshView(view, { signal, say }) {
  const refresh = button(
    'Ask again',
    () => isInert(refresh) || void read().then(() => say('Asked again.'), fail),
  );
  const search = element('input', { id: 'search', type: 'search', autocomplete: 'off', spellcheck: 'false' });
  const label = element('label', { for: 'search' }, 'Find');
  const note = element('p', { class: 'note', role: 'status' }, 'Asking every service of the account…');
  const fault = element('p', { class: 'alert', role: 'alert' });
  const result = element('div');
  const bar = element('div', { class: 'bar' }, refresh, label, search);
  view.append(element('h1', { tabindex: '-1' }, 'Mesh'), bar, fault, note, result);
  let mesh;

  async function read() {
    setInert(refresh, true);
    try {
      mesh = (await get('/platform_api/v1/mesh', signal)).value;
    } finally {
      setInert(refresh, false);
    }
    fault.textContent = '';
    note.replaceChildren('Asked ', moment(mesh.asked_at), `, answers gathered for ${mesh.gathered_ms} ms.`);
    show();
  }
  function fail(problem) {
    if (signal.aborted) return;
    fault.textContent = `${problem.message} (${problem.code ?? 'no answer'})`;
    if (mesh === undefined) note.textContent = '';
  }
  function show() {
    if (mesh === undefined) return;
    result.replaceChildren(summary(mesh), ...sections(mesh, search.value.trim().toLowerCase()));
  }
  search.addEventListener('input', show);
  await read().catch(fail);
}

function summary({ machines, not_answering: silent, unexpected, malformed }) {
  const services = machines.flatMap((machine) => machine.services);
  const tools = services.reduce((sum, { endpoints }) => sum + endpoints.length, 0);
  return facts([
    ['Machines', machines.length.toLocaleString('en')],
    ['Services', services.length.toLocaleString('en')],
    ['Tools', tools.toLocaleString('en')],
    ['Not answering', trouble(silent.length, 'bad')],
    ['Unexpected', trouble(unexpected.length, 'warn')],
    ['Malformed answers', trouble(malformed, 'warn')],
  ]);
}

const trouble = (count, tone) =>
  element('span', { class: 'state', 'data-tone': count === 0 ? 'good' : tone }, count.toLocaleString('en'));

function sections(mesh, words) {
  const has = (one) => words === '' || JSON.stringify(one).toLowerCase().includes(words);
  const machines = mesh.machines.filter(has);
  return [
    ...listing(
      'Not answering',
      ['Module', 'Machine', 'Executor', 'Last seen'],
      mesh.not_answering.filter(has),
      silentRow,
    ),
    ...listing('Unexpected', ['Service', 'Reason'], mesh.unexpected.filter(has), unexpectedRow),
    element('h2', {}, 'Machines'),
    machines.length === 0
      ? element('p', {}, 'Nothing answers.')
      : inSteps(element('div'), machines, (one) => machineSection(one, has)),
  ].flat();
}

function listing(title, columns, items, render) {
  if (items.length === 0) return [];
  const { frame, body } = table(title, columns);
  return [element('h2', {}, title), frame, ...inSteps(body, items, render).slice(1)];
}

const silentRow = (one) =>
  row([foreign(one.module), foreign(one.machine), code(one.executor_public_id), moment(one.last_seen_at)]);

const unexpectedRow = ({ service, reason }) =>
  row([foreign(`${service.name} (${service.id})`), foreign(reason, 400)]);

function machineSection({ machine, services }, has) {
  const { frame, body } = table(`Services of ${machine}`, [
    'Service',
    'Version',
    'Executor or instance',
    'Tools',
  ]);
  const shown = has({ machine }) ? services : services.filter(has);
  return element(
    'section',
    {},
    element('h3', {}, foreign(machine)),
    frame,
    inSteps(body, shown, serviceRow).slice(1),
  );
}

const serviceRow = (service) =>
  row([
    foreign(service.name),
    foreign(service.version),
    code(service.executor_public_id ?? service.id),
    endpointsOf(service),
  ]);

/** Folded, and listed when somebody looks: a service may have very many. */
function endpointsOf({ endpoints }) {
  if (endpoints.length === 0) return 'none';
  const list = element('ul');
  const made = element('details', {}, element('summary', {}, counted(endpoints.length, 'tool')), list);
  const fill = () => {
    if (list.childElementCount > 0) return;
    list.after(...inSteps(list, endpoints, endpointItem).slice(1));
  };
  made.addEventListener('toggle', fill, { once: true });
  return made;
}

const endpointItem = (endpoint) => {
  const { name, description, metadata } = typeof endpoint === 'string' ? { name: endpoint } : endpoint;
  const said = description ?? metadata?.description ?? '';
  return element(
    'li',
    {},
    foreign(name),
    said === '' ? '' : element('small', {}, element('bdi', {}, shortened(said, 300))),
  );
};

/** Puts the first items into `parent`, and behind it a button for more where there are more. Answers both. */
function inSteps(parent, items, render) {
  let shown = 0;
  const more = button('', () => {
    step();
    if (shown === items.length) more.remove();
  });
  const step = () => {
    parent.append(...items.slice(shown, shown + STEP).map(render));
    shown = Math.min(shown + STEP, items.length);
    more.textContent = `Show more (${(items.length - shown).toLocaleString('en')} left)`;
  };
  step();
  return shown < items.length ? [parent, more] : [parent];
}
