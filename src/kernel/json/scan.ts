import { elementPath, memberPath } from './path.js';

/**
 * Fast readings of JSON text that leave it as it is. All but `nestingExceeds` expect text that JSON.parse accepts; each is
 * linear in the text, whatever it holds: strings are jumped over with `indexOf`, nothing recurses and nothing backtracks.
 */

declare global {
  interface String {
    /** ES2024, in Node since 20: whether the string holds no lone surrogate. */
    isWellFormed(): boolean;
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** JSON nests at most this deep on every door (chapters 2 and 9). */
export const NESTING_LIMIT = 64;

/** Whether the text nests deeper than `max` brackets. Works on any text, so that it may come before JSON.parse. */
export function nestingExceeds(text: string, max = NESTING_LIMIT): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = stringEnd(text, at) - 1;
    } else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      depth += 1;
      if (depth > max) return true;
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      depth -= 1;
    }
  }
  return false;
}

/**
 * The members of a JSON object as they are written, by key, in the order of the text; of equal keys the last one counts, as
 * for JSON.parse. Empty for JSON that is no object.
 */
export function memberTexts(text: string): Map<string, string> {
  const members = new Map<string, string>();
  const open = skipBlank(text, 0);
  if (text.charCodeAt(open) !== OPEN_BRACE) return members;
  let at = skipBlank(text, open + 1);
  while (text.charCodeAt(at) === QUOTE) {
    const keyEnd = stringEnd(text, at);
    const start = skipBlank(text, skipBlank(text, keyEnd) + 1);
    const end = valueEnd(text, start);
    members.set(stringOf(text.slice(at, keyEnd)), text.slice(start, end));
    at = skipBlank(text, end);
    if (text.charCodeAt(at) === COMMA) at = skipBlank(text, at + 1);
  }
  return members;
}

/** The elements of a JSON array as they are written. Empty for JSON that is no array. */
export function elementTexts(text: string): string[] {
  const elements: string[] = [];
  const open = skipBlank(text, 0);
  if (text.charCodeAt(open) !== OPEN_BRACKET) return elements;
  let at = skipBlank(text, open + 1);
  while (at < text.length && text.charCodeAt(at) !== CLOSE_BRACKET) {
    const end = valueEnd(text, at);
    elements.push(text.slice(at, end));
    at = skipBlank(text, end);
    if (text.charCodeAt(at) === COMMA) at = skipBlank(text, at + 1);
  }
  return elements;
}

/**
 * Whether a string in the JSON text holds a NUL or a lone surrogate, escaped or not: PostgreSQL cannot store the one, UTF-8
 * cannot carry the other (chapters 2 and 6). Expects text that JSON.parse accepts; half a pair written as it is and half as
 * an escape counts as lone, since the text itself has no UTF-8.
 */
export function isUnstorable(text: string): boolean {
  return text.includes('\0') || !text.isWellFormed() || hasUnstorableEscape(text);
}

/**
 * The path of the first string that holds a NUL or a lone surrogate, the key of a member counting as its string; undefined
 * when there is none. `root` is the path of the value itself.
 */
export function unstorablePath(value: unknown, root = ''): string | undefined {
  if (typeof value === 'string') return isStorable(value) ? undefined : root;
  if (typeof value !== 'object' || value === null) return undefined;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) {
      const found = unstorablePath(value[index], elementPath(root, index));
      if (found !== undefined) return found;
    }
    return undefined;
  }
  for (const [key, member] of Object.entries(value)) {
    const path = memberPath(root, key);
    const found = isStorable(key) ? unstorablePath(member, path) : path;
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * Behind the closing quote of the string whose opening quote is at `start`; the text's length where it does not close. Each
 * run of backslashes is counted once, so the whole is linear.
 */
export function stringEnd(text: string, start: number): number {
  for (let at = start + 1; ;) {
    const quote = text.indexOf('"', at);
    if (quote < 0) return text.length;
    if (!isEscaped(text, quote, at)) return quote + 1;
    at = quote + 1;
  }
}

/** Where the first character at or behind `from` is that is not JSON's white space. */
export function skipBlank(text: string, from: number): number {
  let at = from;
  while (isBlank(text.charCodeAt(at))) at += 1;
  return at;
}

/** Whether an odd number of backslashes stands before `at`, looking back no further than `from`. */
function isEscaped(text: string, at: number, from: number): boolean {
  let before = at;
  while (before > from && text.charCodeAt(before - 1) === BACKSLASH) before -= 1;
  return (at - before) % 2 === 1;
}

/** The value of a JSON string as it is written, quotes included. */
function stringOf(token: string): string {
  return token.includes('\\') ? (JSON.parse(token) as string) : token.slice(1, -1);
}

/** Behind the value that begins at `start`. */
function valueEnd(text: string, start: number): number {
  const first = text.charCodeAt(start);
  if (first === QUOTE) return stringEnd(text, start);
  let at = start;
  if (first !== OPEN_BRACE && first !== OPEN_BRACKET) {
    while (at < text.length && !isDelimiter(text.charCodeAt(at))) at += 1;
    return at;
  }
  for (let depth = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = stringEnd(text, at) - 1;
    } else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      depth += 1;
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return at;
}

const isBlank = (code: number): boolean => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;

const isDelimiter = (code: number): boolean =>
  code === COMMA || code === CLOSE_BRACE || code === CLOSE_BRACKET || isBlank(code);

const isStorable = (text: string): boolean => !text.includes('\0') && text.isWellFormed();

function hasUnstorableEscape(text: string): boolean {
  for (let at = text.indexOf('\\u'), from = 0; at >= 0; at = text.indexOf('\\u', from)) {
    const escaped = isEscaped(text, at, from);
    from = at + 2;
    if (escaped) continue;
    const code = unitAt(text, at);
    if (code === 0 || isLow(code)) return true;
    if (!isHigh(code)) continue;
    if (!text.startsWith('\\u', at + 6) || !isLow(unitAt(text, at + 6))) return true;
    from = at + 12;
  }
  return false;
}

/** The code unit that the escape at `at` writes. */
const unitAt = (text: string, at: number): number => Number.parseInt(text.slice(at + 2, at + 6), 16);

const isHigh = (code: number): boolean => code >= 0xd800 && code <= 0xdbff;
const isLow = (code: number): boolean => code >= 0xdc00 && code <= 0xdfff;
