import { button, element, isInert, setInert, table } from './elements.js';
import { listed, within } from './json-text.js';
import { KeyedRows } from './keyed-rows.js';
import { get, isAborted } from './session.js';
import { clock } from './words.js';

const PAGE = 50;
const LOADING = 'Loading…';

/**
 * A list that is read page by page, by the server's cursors: only one page is ever held. It says what it is doing: loading,
 * empty, refused, or as of when. `name` is the list's key in the answer, `keyOf` names a value, `render` makes its row, and
 * with `everyMs` the page is read again while somebody looks at it. Answers its element and how to steer it.
 */
export function pagedList({ signal, path, name, label, columns, keyOf, render, empty, everyMs }) {
  const { frame, body } = table(label, columns);
  const rows = new KeyedRows(body, render);
  const note = element('p', { class: 'note', role: 'status' }, LOADING);
  const fault = element('p', { class: 'alert', role: 'alert' });
  const asOf = element('span', { class: 'note' });
  const place = element('span', { class: 'note' });
  const refresh = button('Refresh', () => void load());
  const previous = button('Previous page', () => isInert(previous) || void turn(-1));
  const next = button('Next page', () => isInert(next) || void turn(1));
  const pager = element('nav', { class: 'bar', 'aria-label': `Pages of ${label}`, hidden: true });
  pager.append(previous, next, place);
  frame.hidden = true;

  // the cursor of every page up to the one behind that which is shown
  let cursors = [undefined];
  let at = 0;
  let reading;
  let isStale = false;

  /** Reads the page that is shown again; once more when that is going on already. */
  function load() {
    if (reading) isStale = true;
    else reading = readPage(at);
    return reading;
  }

  async function turn(by) {
    while (reading) await reading;
    if (at + by < 0 || (by > 0 && isLast())) return;
    reading = readPage(at + by);
    await reading;
    frame.scrollIntoView({ block: 'nearest' });
  }

  async function readPage(first) {
    frame.setAttribute('aria-busy', 'true');
    for (let wanted = first; wanted !== undefined; wanted = isStale && !signal.aborted ? at : undefined) {
      isStale = false;
      try {
        const after = cursors[wanted] === undefined ? '' : `&after=${encodeURIComponent(cursors[wanted])}`;
        const { value, text } = await get(`${path}?limit=${PAGE}${after}`, signal);
        at = wanted;
        show(value, text);
      } catch (problem) {
        if (!isAborted(problem)) refuse(problem);
      }
    }
    reading = undefined;
    frame.removeAttribute('aria-busy');
  }

  /** Shows an item of this page as it is now; what is being read may be older, so it is read once more. */
  function put(item) {
    isStale ||= reading !== undefined;
    rows.put(item);
  }

  function refuse(problem) {
    const words = `${problem.message} (${problem.code ?? 'no answer'})`;
    // a screen reader reads what is put there, be it the same
    if (fault.textContent !== words) fault.textContent = words;
    if (note.textContent === LOADING) note.textContent = '';
  }

  function show(value, text) {
    const texts = listed(within(text, name));
    const items = value[name].map((one, index) => ({ key: keyOf(one), value: one, text: texts[index] }));
    cursors = [...cursors.slice(0, at + 1), value.pagination.next_after ?? undefined];
    fault.textContent = '';
    rows.show(items);
    frame.hidden = items.length === 0;
    const words = items.length > 0 ? '' : at === 0 ? empty : 'There is nothing on this page any more.';
    if (note.textContent !== words) note.textContent = words;
    asOf.textContent = `as of ${clock(new Date())}`;
    place.textContent = `Page ${at + 1}`;
    setInert(previous, at === 0);
    setInert(next, isLast());
    pager.hidden = at === 0 && isLast();
  }

  const isLast = () => cursors[at + 1] === undefined;

  if (everyMs !== undefined) {
    const beat = setInterval(() => document.visibilityState === 'visible' && void load(), everyMs);
    signal.addEventListener('abort', () => clearInterval(beat), { once: true });
  }
  void load();
  const made = element('div', {}, element('div', { class: 'bar' }, refresh, asOf), fault, note, frame, pager);
  return { element: made, has: (key) => rows.has(key), put, load, isLast };
}
