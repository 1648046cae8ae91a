import { approvalsView } from './approvals-view.js';
import { button, element } from './elements.js';
import { executorsView } from './executors-view.js';
import { meshView } from './mesh-view.js';
import { runView } from './run-view.js';
import { runsView } from './runs-view.js';
import { isAborted, onEnd, signIn, signOut } from './session.js';
import { taskView } from './task-view.js';

/** The administrators' page (chapter 8): signing in and out, and which view an address names. Addresses hold ids, no more. */
const VIEWS = [
  [/^#\/mesh$/, 'Mesh', meshView],
  [/^#\/executors$/, 'Executors', executorsView],
  [/^#\/runs$/, 'Runs', runsView],
  [/^#\/runs\/([0-9a-f-]{36})$/, 'Run', runView],
  [/^#\/runs\/([0-9a-f-]{36})\/tasks\/([A-Za-z0-9][A-Za-z0-9_-]{0,63})$/, 'Task', taskView],
  [/^#\/approvals$/, 'Approvals', approvalsView],
];

const of = (id) => document.getElementById(id);
const navigation = document.querySelector('header nav');
const form = document.querySelector('#sign-in form');
let current = new AbortController();

/** Says what has happened: seen by who looks, heard by who listens. */
const say = (...parts) => of('said').replaceChildren(...parts);

function show(isSignedIn) {
  of('sign-in').hidden = isSignedIn;
  of('view').hidden = !isSignedIn;
  navigation.hidden = !isSignedIn;
  of('sign-out').hidden = !isSignedIn;
}

/** Leaves the view that is shown, with all that it was doing, and enters the one of the address. */
async function route() {
  if (of('view').hidden) return;
  current.abort();
  current = new AbortController();
  const { signal } = current;
  const view = element('div');
  of('view').replaceChildren(view);
  say();
  const found = VIEWS.map(([pattern, title, enter]) => ({
    ids: pattern.exec(location.hash)?.slice(1),
    title,
    enter,
  }));
  const { ids, title, enter } = found.find(({ ids }) => ids !== undefined) ?? {
    title: 'No such view',
    enter: lost,
  };
  document.title = `${title} · Nexus console`;
  for (const link of navigation.children) {
    if (location.hash.startsWith(link.hash)) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  const entered = Promise.resolve(enter(view, { signal, say, ids }));
  view.querySelector('h1')?.focus();
  await entered.catch((problem) => {
    if (signal.aborted || isAborted(problem)) return;
    const fault = element(
      'p',
      { class: 'alert', role: 'alert' },
      `${problem.message} (${problem.code ?? 'no answer'})`,
    );
    view.append(
      fault,
      button('Try again', () => void route()),
    );
  });
}

function lost(view) {
  view.append(
    element('h1', { tabindex: '-1' }, 'There is no such view'),
    element('a', { href: '#/mesh' }, 'To the mesh'),
  );
}

function refuse(reason) {
  of('refusal').textContent = reason;
  if (reason === '') of('secret').removeAttribute('aria-invalid');
  else of('secret').setAttribute('aria-invalid', 'true');
}

/** Why this can't be a platform secret; undefined where only the server can tell. */
function misfit(secret) {
  if (secret.startsWith('nxm_'))
    return 'This is a member secret. The console takes a platform one: it begins with nxp_.';
  if (secret.startsWith('nxe_'))
    return 'This is an executor’s secret. The console takes a platform one: it begins with nxp_.';
  return /^[\x21-\x7e]+$/.test(secret)
    ? undefined
    : 'This is no secret: it holds characters that no secret has.';
}

async function enter(event) {
  event.preventDefault();
  const secret = of('secret').value.trim();
  const fault = misfit(secret);
  refuse(fault ?? '');
  if (fault) return of('secret').focus();
  try {
    await signIn(secret);
  } catch (problem) {
    if (of('refusal').textContent === '') refuse(problem.message);
    return of('secret').focus();
  }
  of('secret').value = '';
  show(true);
  if (location.hash === '') history.replaceState(null, '', '#/mesh');
  await route();
}

onEnd((reason) => {
  current.abort();
  of('view').replaceChildren();
  say();
  show(false);
  refuse(reason);
  document.title = 'Nexus console';
  of('secret').value = '';
  of('secret').focus();
});

form.addEventListener('submit', (event) => void enter(event));
of('sign-out').addEventListener('click', () => signOut());
document.querySelector('.skip').addEventListener('click', (event) => {
  event.preventDefault();
  of('main').focus();
});
addEventListener('hashchange', () => void route());
// a page that the browser keeps for the way back keeps no session
addEventListener('pagehide', () => signOut());
of('secret').focus();
