import { effectProfileFaults } from '../kernel/effect-profile.js';
import { isServedName, SERVED_NAME } from '../kernel/names.js';
import { reservedNamespace } from '../kernel/reserved-names.js';
import type { CodedFault } from './announcement-grammar.js';
import { isObjectSchema } from './json-schema-check.js';

/** The largest timeout an entry may announce, in milliseconds. */
export const TIMEOUT_MS_MAX = 3_600_000;

/** What is wrong with the entries of `tools`, in document order (chapter 2). `modules` are those of the executor. */
export function toolFaults(entries: readonly unknown[], modules: readonly string[]): CodedFault[] {
  const seen = new Set<string>();
  return entries.flatMap((entry, index) => entryFaults(entry, `tools[${index}]`, seen, modules));
}

function entryFaults(entry: unknown, path: string, seen: Set<string>, modules: readonly string[]): CodedFault[] {
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) return [invalid(path, 'must be an object')];
  const members = entry as Record<string, unknown>;
  const faults: CodedFault[] = [];
  // in document order: first what is there, as it is written, then what is absent
  for (const [key, value] of Object.entries(members)) faults.push(...memberFaults(key, value, path, seen, modules));
  if (!('name' in members)) faults.push(invalid(`${path}.name`, 'is required'));
  if (!('effect_profile' in members)) faults.push(...profileFaults(undefined, path));
  return faults;
}

function memberFaults(
  key: string,
  value: unknown,
  path: string,
  seen: Set<string>,
  modules: readonly string[],
): CodedFault[] {
  const at = `${path}.${key}`;
  switch (key) {
    case 'name':
      return nameFaults(value, at, seen);
    case 'effect_profile':
      return profileFaults(value, path);
    case 'timeout_ms':
      return isTimeout(value) ? [] : [invalid(at, `must be an integer from 1 to ${TIMEOUT_MS_MAX}`)];
    case 'description':
      return typeof value === 'string' && value.trim() !== '' ? [] : [invalid(at, 'must be a non-empty string')];
    case 'input_schema':
      return isObjectSchema(value) ? [] : [invalid(at, 'must be a JSON Schema object')];
    case 'module':
      return modules.includes(value as string) ? [] : [invalid(at, `must be one of ${modules.join(', ')}`)];
    default:
      return [];
  }
}

function nameFaults(name: unknown, at: string, seen: Set<string>): CodedFault[] {
  if (typeof name === 'string') {
    const namespace = reservedNamespace(name);
    if (namespace !== undefined) {
      const message = `${at} names a reserved kernel namespace (${namespace})`;
      return [{ code: 'reserved_namespace', path: at, message }];
    }
  }
  if (!isServedName(name)) return [invalid(at, `must match ${SERVED_NAME.source}`)];
  if (seen.has(name)) return [invalid(at, `repeats ${name}`)];
  seen.add(name);
  return [];
}

function profileFaults(profile: unknown, path: string): CodedFault[] {
  return effectProfileFaults(profile, `${path}.effect_profile`).map((fault) => ({
    code: 'invalid_announcement',
    ...fault,
  }));
}

const isTimeout = (value: unknown): boolean =>
  typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= TIMEOUT_MS_MAX;

const invalid = (path: string, rest: string): CodedFault => ({
  code: 'invalid_announcement',
  path,
  message: `${path} ${rest}`,
});
