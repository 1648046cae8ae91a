import { elementPath, memberPath } from './path.js';
import { isEscaped } from './scan.js';

declare global {
  interface String {
    /** ES2024, in Node since 20: whether the string holds no lone surrogate. */
    isWellFormed(): boolean;
  }
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
