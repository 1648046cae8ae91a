import { createHash } from 'node:crypto';
import type { DiscoveryTagRow } from './discovery.sql.js';

/**
 * The tag of rows as they are answered, from what raises with each change: never from the announced texts themselves.
 * Presence and contact times have no part in it, so it is a weak one. `around` is whatever else the answer depends on.
 */
export function tagOf(rows: readonly DiscoveryTagRow[], around: string): string {
  const facts = rows.map(
    ({ id, version, announced_at, kind, display_name, status, assignment_scope, modules, machine }) => [
      id,
      version,
      announced_at,
      kind,
      display_name,
      status,
      assignment_scope,
      modules,
      machine,
    ],
  );
  const digest = createHash('sha256')
    .update(JSON.stringify([around, facts]))
    .digest('base64url');
  return `W/"${digest.slice(0, 22)}"`;
}

/** Whether `If-None-Match` names the tag: a list, compared weakly, or `*` (RFC 9110, 13.1.2). */
export function namesTag(ifNoneMatch: string, tag: string): boolean {
  if (ifNoneMatch.trim() === '*') return true;
  const opaque = tag.replace(/^W\//, '');
  return ifNoneMatch.split(',').some((one) => one.trim().replace(/^W\//, '') === opaque);
}
