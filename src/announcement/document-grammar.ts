import { DOCUMENT_NAME, isDocumentName } from '../kernel/names.js';
import type { CodedFault } from './announcement-grammar.js';

/** A description's bound, in bytes of UTF-8 (chapter 2). */
const DESCRIPTION_BYTES_MAX = 1024;

/** What is wrong with the entries of `documents`, in document order. */
export function documentFaults(entries: readonly unknown[]): CodedFault[] {
  const seen = new Set<string>();
  return entries.flatMap((entry, index) => {
    const path = `documents[${index}]`;
    if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) return [invalid(path, 'must be an object')];
    const { name, description } = entry as { name?: unknown; description?: unknown };
    return [...nameFaults(name, `${path}.name`, seen), ...descriptionFaults(description, `${path}.description`)];
  });
}

function nameFaults(name: unknown, path: string, seen: Set<string>): CodedFault[] {
  if (!isDocumentName(name)) return [invalid(path, `must match ${DOCUMENT_NAME.source} and be at most 64 long`)];
  if (seen.has(name)) return [invalid(path, `repeats ${name}`)];
  seen.add(name);
  return [];
}

function descriptionFaults(description: unknown, path: string): CodedFault[] {
  if (typeof description !== 'string' || description.trim() === '') return [invalid(path, 'must be a non-empty string')];
  if (Buffer.byteLength(description) <= DESCRIPTION_BYTES_MAX) return [];
  return [invalid(path, `must be at most ${DESCRIPTION_BYTES_MAX} bytes`)];
}

const invalid = (path: string, rest: string): CodedFault => ({
  code: 'invalid_announcement',
  path,
  message: `${path} ${rest}`,
});
