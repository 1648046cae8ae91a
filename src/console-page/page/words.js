import { element, facts } from './elements.js';
import { foreign, visible } from './foreign-text.js';

/** How a state reads at a glance; the word is always there beside the colour. */
const TONES = {
  active: 'good',
  completed: 'good',
  live: 'good',
  online: 'good',
  untouched: 'good',
  dispatched: 'busy',
  open: 'busy',
  connecting: 'busy',
  needs_approval: 'warn',
  shutting_down: 'warn',
  touched: 'warn',
  uncertain: 'warn',
  failed: 'bad',
  lost: 'bad',
  revoked: 'bad',
  timed_out: 'bad',
};

/** A state of the protocol as a word with its colour. */
export const state = (name) =>
  element('span', { class: 'state', 'data-tone': TONES[name] ?? 'idle' }, visible(name.replaceAll('_', ' ')));

const two = (number) => String(number).padStart(2, '0');

/** A moment in the reader's own time zone; the machine-readable one, in UTC, is in the element. */
export function moment(iso) {
  if (iso === null || iso === undefined) return '–';
  const at = new Date(iso);
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  const time = [at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join(':');
  return element('time', { datetime: iso, title: iso }, `${day} ${time}`);
}

export const clock = (at) => [at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join(':');

/** `1 tool`, `2 tools`. */
export const counted = (count, noun) => `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;

/** An effect profile in a few words: what a person must know before they decide. */
export const effectWords = ({ kind, destructive, effect_scope: scope }) =>
  [kind, destructive ? 'destructive' : undefined, scope === 'open' ? 'open world' : undefined]
    .filter(Boolean)
    .join(', ')
    .replaceAll('_', ' ');

/** The five facts of an effect profile. */
export const effectFacts = (profile) =>
  facts([
    ['Kind', visible(profile.kind.replaceAll('_', ' '))],
    ['Destructive', profile.destructive ? 'yes' : 'no'],
    ['Scope', visible(profile.effect_scope)],
    ['Idempotency', visible(profile.idempotency)],
    ['Reconciliation', visible(profile.reconciliation)],
  ]);

/** Where a call goes: the chosen runner, or the role it is addressed to. */
export function targetName({ target, addressed_to: addressed }) {
  if (target) return foreign(target.display_name ?? target.executor_public_id);
  return addressed ? addressed.role.replaceAll('_', ' ') : '–';
}

export const runLink = (runId, label = runId) => element('a', { href: `#/runs/${runId}` }, label);

export const taskLink = ({ run_public_id: runId, task_key: key }, label = key) =>
  element('a', { href: `#/runs/${runId}/tasks/${key}` }, label);
