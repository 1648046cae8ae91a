import { element } from './elements.js';
import { visible } from './foreign-text.js';
import { laidOut } from './json-text.js';

/** Right-to-left letters. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefe\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
/** What is shorter, in characters, is unfolded from the beginning. */
const SHORT = 2_000;

const sizes = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });

/**
 * A value that somebody else wrote, folded where it is long; it is laid out when it is first looked at. `set` shows another
 * text in its place, and hides it all for `undefined`; what is unfolded stays so. The text is JSON as it was written.
 */
export function folded(label, short = SHORT) {
  const size = element('span', { class: 'note' });
  const shown = element('pre', { tabindex: '0', 'aria-label': label });
  const made = element('details', { hidden: true }, element('summary', {}, label, ' ', size), shown);
  let text;
  let isShown = false;
  const show = () => {
    if (!made.open || isShown) return;
    isShown = true;
    shown.textContent = presented(text);
  };
  made.addEventListener('toggle', show);
  const set = (next) => {
    if (next === text) return;
    const isFirst = text === undefined;
    text = next;
    isShown = false;
    made.hidden = text === undefined;
    if (text === undefined) return;
    if (isFirst) made.open = text.length <= short;
    size.textContent = sizeOf(text);
    shown.dir = text.startsWith('"') ? 'auto' : 'ltr';
    show();
  };
  return { element: made, set };
}

/** A string is shown as the text it is, everything else as JSON. */
const presented = (text) =>
  text.startsWith('"') ? visible(JSON.parse(text)) : laidOut(text, (piece) => setApart(visible(piece)));

/** A string whose letters run from right to left would trade places with its neighbours. */
const setApart = (piece) => (RIGHT_TO_LEFT.test(piece) ? `\u2068${piece}\u2069` : piece);

function sizeOf(text) {
  const bytes = new Blob([text]).size;
  return bytes < 1024 ? `${bytes} bytes` : `${sizes.format(bytes / 1024)} KiB`;
}
