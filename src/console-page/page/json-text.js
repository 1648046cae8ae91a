/**
 * Readings of JSON text that leave it as it was written. `JSON.parse` rounds long numbers and drops a key that comes twice:
 * who decides about a call shall see what its runner receives. All of them expect text that `JSON.parse` accepts.
 */

/** The members of an object by key, each as it was written; of equal keys the last. Empty for anything else. */
export function members(text) {
  const found = new Map();
  for (let at = firstInside(text, '{'); text[at] === '"'; at = afterComma(text, at)) {
    const keyEnd = stringEnd(text, at);
    const start = skipBlank(text, skipBlank(text, keyEnd) + 1);
    const key = JSON.parse(text.slice(at, keyEnd));
    at = valueEnd(text, start);
    found.set(key, text.slice(start, at));
  }
  return found;
}

/** The elements of a list, each as it was written. Empty for anything else. */
export function listed(text) {
  const found = [];
  let at = firstInside(text, '[');
  while (at < text.length && text[at] !== ']') {
    const end = valueEnd(text, at);
    found.push(text.slice(at, end));
    at = afterComma(text, end);
  }
  return found;
}

/** The value at the end of a path of keys; undefined where there is none. */
export const within = (text, ...keys) =>
  keys.reduce((value, key) => (value === undefined ? undefined : members(value).get(key)), text);

/** The text on lines of its own, each string and number as it was written and then as `present` has it shown. */
export function laidOut(text, present = (piece) => piece) {
  const parts = [];
  let depth = 0;
  const newLine = () => parts.push('\n', '  '.repeat(depth));
  for (let at = skipBlank(text, 0); at < text.length; at = skipBlank(text, at)) {
    const sign = text[at];
    if (sign === '{' || sign === '[') {
      const next = skipBlank(text, at + 1);
      if (text[next] === '}' || text[next] === ']') {
        parts.push(sign, text[next]);
        at = next + 1;
        continue;
      }
      parts.push(sign);
      depth += 1;
      newLine();
    } else if (sign === '}' || sign === ']') {
      depth -= 1;
      newLine();
      parts.push(sign);
    } else if (sign === ',') {
      parts.push(sign);
      newLine();
    } else if (sign === ':') {
      parts.push(': ');
    } else {
      const end = valueEnd(text, at);
      parts.push(present(text.slice(at, end)));
      at = end;
      continue;
    }
    at += 1;
  }
  return parts.join('');
}

function firstInside(text, open) {
  const start = skipBlank(text, 0);
  return text[start] === open ? skipBlank(text, start + 1) : text.length;
}

function afterComma(text, at) {
  const next = skipBlank(text, at);
  return text[next] === ',' ? skipBlank(text, next + 1) : next;
}

function skipBlank(text, start) {
  let at = start;
  while (text[at] === ' ' || text[at] === '\n' || text[at] === '\t' || text[at] === '\r') at += 1;
  return at;
}

/** Behind the value that begins at `start`. */
function valueEnd(text, start) {
  if (text[start] === '"') return stringEnd(text, start);
  if (text[start] !== '{' && text[start] !== '[') {
    const scalar = /[^\s,:\]}]*/y;
    scalar.lastIndex = start;
    scalar.test(text);
    return scalar.lastIndex;
  }
  const signs = /["[\]{}]/g;
  signs.lastIndex = start;
  for (let depth = 0; ;) {
    const sign = signs.exec(text);
    if (!sign) return text.length;
    if (sign[0] === '"') signs.lastIndex = stringEnd(text, sign.index);
    else depth += sign[0] === '{' || sign[0] === '[' ? 1 : -1;
    if (depth === 0) return signs.lastIndex;
  }
}

/** Behind the closing quote of the string that begins at `start`. */
function stringEnd(text, start) {
  for (let at = start + 1; ;) {
    const quote = text.indexOf('"', at);
    if (quote < 0) return text.length;
    let slashes = 0;
    while (quote - 1 - slashes >= at && text[quote - 1 - slashes] === '\\') slashes += 1;
    if (slashes % 2 === 0) return quote + 1;
    at = quote + 1;
  }
}
