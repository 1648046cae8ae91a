import { JsonText } from '../db/json-text.js';
import type { Presence } from '../identity/presence.js';
import type { DiscoveryRow } from './discovery.sql.js';

/** What an executor serves that never announced. */
const NOTHING = { served_tools: '[]', environment: '{}', served_documents: '[]' } as const;

/** The row of chapter 3. What was announced is spliced in verbatim. */
export function discoveryJson(row: DiscoveryRow, presence: Presence): object {
  const { id, kind, display_name, status, assignment_scope, last_seen_at, connected_at, modules, machine } =
    row;
  return {
    public_id: id,
    kind,
    display_name,
    status,
    assignment_scope,
    served_tools: new JsonText(row.served_tools ?? NOTHING.served_tools),
    environment: new JsonText(row.environment ?? NOTHING.environment),
    served_documents: new JsonText(row.served_documents ?? NOTHING.served_documents),
    presence: presence.of(id, last_seen_at),
    last_seen_at,
    connected_at,
    modules,
    machine,
    announced_at: row.announced_at,
  };
}
