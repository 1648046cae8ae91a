import { createHash } from 'node:crypto';

/** A callable's name is at most this long (chapter 4). */
const CALLABLE_NAME_LENGTH = 64;

/** Eight digits of the digest and the underscore before them. */
const SUFFIX_LENGTH = 9;

/**
 * The name of an imported tool that may not keep its own: `<served, cut>_<8 hex>`. The hex is a digest of runner id
 * and served name, so the same tool of the same runner has the same name in every assembly (chapter 4).
 */
export function qualifiedName(runnerId: string, servedName: string): string {
  const digest = createHash('sha256').update(runnerId).update(servedName).digest('hex');
  return `${servedName.slice(0, CALLABLE_NAME_LENGTH - SUFFIX_LENGTH)}_${digest.slice(0, SUFFIX_LENGTH - 1)}`;
}

/** The name an imported tool gets: its served name, unless that is taken or too long for a callable. */
export function importedName(runnerId: string, servedName: string, taken: ReadonlySet<string>): string {
  const keeps = servedName.length <= CALLABLE_NAME_LENGTH && !taken.has(servedName);
  return keeps ? servedName : qualifiedName(runnerId, servedName);
}
