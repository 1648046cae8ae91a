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
 */
export function writeJson(value: unknown): string {
  if (value instanceof JsonText) return value.text;
  if (Array.isArray(value)) return `[${value.map((element) => writeJson(element ?? null)).join(',')}]`;
  if (value === null || typeof value !== 'object' || value instanceof Date)
    return JSON.stringify(value) ?? 'null';
  let members = '';
  for (const key of Object.keys(value)) {
    const member = (value as Record<string, unknown>)[key];
    if (member === undefined) continue;
    members += `${members === '' ? '' : ','}${JSON.stringify(key)}:${writeJson(member)}`;
  }
  return `{${members}}`;
}
