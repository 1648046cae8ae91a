/**
 * JSON that is already text: stored and answered as it was sent, never parsed and written again (numbers keep
 * their digits, keys their order). `writeJson` splices it in.
 */
export class JsonText {
  constructor(readonly text: string) {}

  /** `JSON.stringify` would lose the text: whoever holds a `JsonText` writes with `writeJson`. */
  toJSON(): never {
    throw new Error('A JsonText is written by writeJson');
  }
}

/** A `JsonText` of a nullable `json` column read as text; SQL null is absent. */
export function jsonColumn(text: string | null): JsonText | undefined {
  return text === null ? undefined : new JsonText(text);
}

/**
 * JSON text of a value that may hold `JsonText` anywhere. Otherwise as `JSON.stringify`: `undefined` members are
 * left out, dates are ISO 8601.
 *
 * Every answer is written by it: what needs no escaping is quoted here, since crossing into `JSON.stringify` for each
 * member of a task took 60 us of a call.
 */
export function writeJson(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return quoted(value);
    case 'number':
      return Number.isFinite(value) ? String(value) : 'null';
    case 'boolean':
      return value ? 'true' : 'false';
    case 'object':
      return value === null ? 'null' : writeObject(value);
    default:
      return JSON.stringify(value) ?? 'null';
  }
}

function writeObject(value: object): string {
  if (value instanceof JsonText) return value.text;
  if (Array.isArray(value)) return `[${value.map((element) => writeJson(element ?? null)).join(',')}]`;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'null' : `"${value.toISOString()}"`;
  let members = '';
  for (const key of Object.keys(value)) {
    const member = (value as Record<string, unknown>)[key];
    if (member === undefined) continue;
    members += `${members === '' ? '' : ','}${quoted(key)}:${writeJson(member)}`;
  }
  return `{${members}}`;
}

/** What JSON must escape, and every surrogate, of which a lone one is escaped as well. */
// eslint-disable-next-line no-control-regex -- these are the characters that JSON escapes
const ESCAPED = /[\u0000-\u001f"\\\ud800-\udfff]/;

const quoted = (text: string): string => (ESCAPED.test(text) ? JSON.stringify(text) : `"${text}"`);
