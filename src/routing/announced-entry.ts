import { createHash } from 'node:crypto';
import type { ServedTool } from '../announcement/announcement-directory.js';

/**
 * Names what a person is asked about when a call rests (chapter 6, Adjudication): profile, description and schema of the
 * announced entries, by their texts; SHA-256, in hexadecimal. Of a pool the order of its providers and how many announce the
 * same entry do not count. Null without entries: the kernel's own tools do not change.
 */
export function entryDigest(entries: readonly ServedTool[]): string | null {
  if (entries.length === 0) return null;
  const digests = entries.map(({ effectProfileText, descriptionText, inputSchemaText }) =>
    sha256(JSON.stringify([effectProfileText, descriptionText ?? null, inputSchemaText ?? null])),
  );
  return sha256([...new Set(digests)].sort().join());
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
