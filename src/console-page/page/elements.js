/**
 * Makes an element. `on…` attributes are listeners; `undefined` and `false` leave an attribute out, `true` is an empty one.
 * Children are nodes or text, and text is never anything but text.
 */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (name.startsWith('on')) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? '' : value);
  }
  made.append(...children.flat(Infinity).filter((child) => child !== undefined && child !== false));
  return made;
}

/** A button that does something here and now; `kind` is `primary` or `danger` where it is more than an ordinary one. */
export const button = (label, onclick, attributes = {}) =>
  element('button', { type: 'button', onclick, ...attributes }, label);

/**
 * Makes a button inert, or no longer. It keeps its focus, unlike a disabled one: whoever came by keyboard is not lost. The
 * click listener asks `isInert`.
 */
export function setInert(one, inert) {
  if (inert) one.setAttribute('aria-disabled', 'true');
  else one.removeAttribute('aria-disabled');
}

export const isInert = (one) => one.getAttribute('aria-disabled') === 'true';

/** A table in a frame that scrolls sideways by itself, by keyboard too. Answers the frame and the body. */
export function table(label, columns) {
  const head = columns.map((column) => element('th', { scope: 'col' }, column));
  const body = element('tbody');
  const frame = element(
    'div',
    { class: 'frame', role: 'region', 'aria-label': label, tabindex: '0' },
    element('table', {}, element('thead', {}, element('tr', {}, head)), body),
  );
  return { frame, body };
}

/** A row whose first cell names it. */
export const row = ([first, ...others]) =>
  element(
    'tr',
    {},
    element('th', { scope: 'row' }, first),
    others.map((cell) => element('td', {}, cell ?? '')),
  );

/** Names and values; an undefined value leaves its name out. */
export const facts = (pairs) =>
  element(
    'dl',
    {},
    pairs
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => element('div', {}, element('dt', {}, name), element('dd', {}, value))),
  );
