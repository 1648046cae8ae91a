import { refuse } from '../errors/refusal.js';
import type { VerbInput } from './input.js';

/** The page a caller asked for: at most `limit` rows after the row that `after` names. */
export interface PageRequest<Key> {
  readonly limit: number;
  readonly after: Key | undefined;
}

export interface Pagination {
  readonly next_after: string | null;
}

/**
 * Reads `limit` (1…200; `fallback` when absent) and `after`. Throws `parameter_invalid` for anything else (chapter 3).
 */
export function pageRequest<Key extends string | number>(
  input: Pick<VerbInput, 'field'>,
  isKey: (key: unknown) => key is Key,
  fallback = 50,
): PageRequest<Key> {
  return { limit: limitOf(input.field('limit'), fallback), after: cursorOf(input.field('after'), isKey) };
}

/** The pagination of a page whose last row has `last`, when there is more behind it. */
export function paginationOf(last: string | number | undefined, more: boolean): Pagination {
  return {
    next_after: more && last !== undefined ? Buffer.from(JSON.stringify(last)).toString('base64url') : null,
  };
}

function limitOf(value: unknown, fallback: number): number {
  if (value === undefined || value === '') return fallback;
  const limit = typeof value === 'string' && /^\d{1,6}$/.test(value) ? Number(value) : value;
  if (typeof limit !== 'number' || !Number.isInteger(limit) || limit < 1 || limit > 200) {
    throw refuse('parameter_invalid', 'limit must be an integer from 1 to 200');
  }
  return limit;
}

function cursorOf<Key>(value: unknown, isKey: (key: unknown) => key is Key): Key | undefined {
  if (value === undefined || value === '' || value === null) return undefined;
  try {
    const key: unknown = JSON.parse(Buffer.from(String(value as string), 'base64url').toString());
    if (isKey(key)) return key;
  } catch {
    // falls through: not a cursor of ours
  }
  throw refuse('parameter_invalid', 'after is not a cursor of this list');
}
