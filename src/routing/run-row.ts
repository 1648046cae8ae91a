import { JsonText } from '../db/json-text.js';
import { OPEN_STATUSES } from '../kernel/task-status.js';
import type { StoredDeclaration } from './declaration-store.js';
import type { RunnerEffects } from './run-effects.js';

/** A run as statements answer it; how far it has come is derived from its tasks, and stored when retention prunes those. */
export interface RunRow {
  readonly id: string;
  readonly conversation_id: string | null;
  readonly parent_run_id: string | null;
  readonly default_runner_id: string | null;
  readonly declaration_digest: Buffer | null;
  readonly approval_mode: string;
  readonly approval_rules_text: string;
  readonly created_at: Date;
  readonly stopped_at: Date | null;
  readonly details_pruned_at: Date | null;
  readonly is_open: boolean;
  /** When its last task settled; null while none has. */
  readonly last_settled_at: Date | null;
}

const open = OPEN_STATUSES.map((status) => `'${status}'`).join(', ');

/** SQL: the select list of `RunRow`, of an alias of runs beside `runProgress`. */
export const runColumns = (r: string): string => `
  ${r}.id, ${r}.conversation_id, ${r}.parent_run_id, ${r}.default_runner_id, ${r}.declaration_digest, ${r}.approval_mode,
  ${r}.approval_rules::text as approval_rules_text, ${r}.created_at, ${r}.stopped_at, ${r}.details_pruned_at,
  progress.is_open, progress.last_settled_at`;

/**
 * SQL: how far the tasks of a run have come; open while it has an open task, or none at all. A pruned run stays as it was, and
 * its tasks, where some are left, are not looked at.
 */
export const runProgress = (r: string): string => `
  cross join lateral (
    select coalesce(bool_or(t.status in (${open})), ${r}.completed_at is null) as is_open,
      coalesce(max(t.settled_at), ${r}.completed_at) as last_settled_at
    from tasks t where t.run_id = ${r}.id and ${r}.details_pruned_at is null) progress`;

/** A run on the wire (chapter 5, Shapes). Without its declaration once retention has pruned that. */
export function runJson(
  row: RunRow,
  declaration: StoredDeclaration | undefined,
  effects: RunnerEffects | undefined,
): Record<string, unknown> {
  return {
    public_id: row.id,
    conversation_public_id: row.conversation_id,
    parent_run_public_id: row.parent_run_id,
    status: row.stopped_at !== null ? 'stopped' : row.is_open ? 'open' : 'completed',
    approval_mode: row.approval_mode,
    approval_rules: new JsonText(row.approval_rules_text),
    default_runner_executor_public_id: row.default_runner_id,
    tool_definitions: declaration?.toolDefinitions,
    environment: declaration?.environment,
    runner_effects: effects,
    created_at: row.created_at,
    completed_at: row.is_open ? null : row.last_settled_at,
    details_pruned_at: row.details_pruned_at ?? undefined,
  };
}
