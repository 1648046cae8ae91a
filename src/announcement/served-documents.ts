import { DOCUMENT_NAME, isDocumentName } from '../kernel/names.js';
import type { AnnouncementFaults } from './announcement-faults.js';
import { isNonBlank } from './served-tools.js';

/** One entry of `documents`: a skill that its executor can load. */
export interface AnnouncedDocument {
  readonly name: string;
  readonly description: string;
}

/** Bytes of UTF-8 that a description may have. */
const DESCRIPTION_LIMIT_BYTES = 1024;

/** Notes what is wrong with the entries of `documents` (chapter 2), in document order. */
export function checkServedDocuments(entries: readonly unknown[], faults: AnnouncementFaults): void {
  const names = new Set<string>();
  for (let index = 0; index < entries.length && !faults.isFull; index += 1) {
    checkDocument(entries[index], `documents[${index}]`, names, faults);
  }
}

function checkDocument(entry: unknown, path: string, names: Set<string>, faults: AnnouncementFaults): void {
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) {
    faults.add(path, 'must be an object');
    return;
  }
  for (const [key, value] of Object.entries(entry)) {
    if (faults.addUnstorable(path, key, value)) continue;
    if (key === 'name') checkName(value, `${path}.name`, names, faults);
    if (key === 'description') checkDescription(value, `${path}.description`, faults);
  }
  if (!Object.hasOwn(entry, 'name')) checkName(undefined, `${path}.name`, names, faults);
  if (!Object.hasOwn(entry, 'description')) checkDescription(undefined, `${path}.description`, faults);
}

function checkName(name: unknown, path: string, names: Set<string>, faults: AnnouncementFaults): void {
  if (!isDocumentName(name))
    faults.add(path, `must match ${DOCUMENT_NAME.source}, with at most 64 characters`);
  else if (names.has(name)) faults.add(path, `repeats ${name}`);
  else names.add(name);
}

function checkDescription(description: unknown, path: string, faults: AnnouncementFaults): void {
  if (!isNonBlank(description)) faults.add(path, 'must be a non-empty string');
  else if (Buffer.byteLength(description) > DESCRIPTION_LIMIT_BYTES) {
    faults.add(path, `must have at most ${DESCRIPTION_LIMIT_BYTES} bytes`);
  }
}
