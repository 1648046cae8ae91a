import type { EffectProfile } from '../kernel/effect-profile.js';
import { recoveryOf } from '../kernel/expiry.js';
import type { TaskStatus } from '../kernel/task-status.js';
import { JsonText, jsonColumn } from '../db/json-text.js';

/** A task as statements answer it. `…_text` is JSON kept as it was sent. */
export interface TaskRow {
  run_id: string;
  task_key: string;
  account_id: string;
  principal_id: string;
  seq: string;
  kind: 'tool_call';
  tool_name: string;
  tool_alias: string | null;
  tool_call_id: string | null;
  tool_input_text: string;
  effect_profile_text: string;
  status: TaskStatus;
  generation: number;
  target_id: string | null;
  target_display_name: string | null;
  addressed_role: 'runner' | 'agent_application' | 'tool_provider' | 'kernel';
  addressed_id: string | null;
  timeout_ms: number;
  accepted_at: Date;
  started_at: Date | null;
  deadline_at: Date | null;
  claimed_by: string | null;
  claimed_at: Date | null;
  settled_at: Date | null;
  content_text: string | null;
  structured_content_text: string | null;
  is_error: boolean | null;
  title: string | null;
  metadata_text: string | null;
  error_key: string | null;
  error_detail: string | null;
  approval_text: string | null;
}

/**
 * The select list that makes a `TaskRow` of a tasks alias. The display name is read where the row is: it is shown as it
 * stands now.
 */
export const taskColumns = (t: string): string => `
  ${t}.run_id, ${t}.task_key, ${t}.account_id, ${t}.principal_id, ${t}.seq, ${t}.kind, ${t}.tool_name, ${t}.tool_alias,
  ${t}.tool_call_id, ${t}.tool_input::text as tool_input_text, ${t}.effect_profile::text as effect_profile_text,
  ${t}.status, ${t}.generation, ${t}.target_id,
  (select e.display_name from executors e where e.id = ${t}.target_id) as target_display_name,
  ${t}.addressed_role, ${t}.addressed_id, ${t}.timeout_ms, ${t}.accepted_at, ${t}.started_at, ${t}.deadline_at,
  ${t}.claimed_by, ${t}.claimed_at, ${t}.settled_at, ${t}.content::text as content_text,
  ${t}.structured_content::text as structured_content_text, ${t}.is_error, ${t}.title,
  ${t}.metadata::text as metadata_text, ${t}.error_key, ${t}.error_detail, ${t}.approval::text as approval_text`;

/** A task on the wire (chapter 5, Shapes). A field without a value yet is absent; a committed `null` is `null`. */
export function taskJson(row: TaskRow): Record<string, unknown> {
  return {
    run_public_id: row.run_id,
    task_key: row.task_key,
    kind: row.kind,
    tool_name: row.tool_name,
    tool_alias: row.tool_alias ?? undefined,
    tool_call_id: row.tool_call_id ?? undefined,
    tool_input: new JsonText(row.tool_input_text),
    status: row.status,
    generation: row.generation,
    effect_profile: new JsonText(row.effect_profile_text),
    target:
      row.target_id === null
        ? undefined
        : { executor_public_id: row.target_id, display_name: row.target_display_name },
    addressed_to: { role: row.addressed_role, executor_public_id: row.addressed_id ?? undefined },
    claimed_by: row.claimed_by === null ? undefined : { executor_public_id: row.claimed_by },
    approval: jsonColumn(row.approval_text),
    timeout_ms: row.timeout_ms,
    accepted_at: row.accepted_at,
    started_at: row.started_at ?? undefined,
    deadline_at: row.deadline_at ?? undefined,
    claimed_at: row.claimed_at ?? undefined,
    settled_at: row.settled_at ?? undefined,
    content: jsonColumn(row.content_text),
    structured_content: jsonColumn(row.structured_content_text),
    is_error: row.is_error ?? undefined,
    title: row.title ?? undefined,
    metadata: jsonColumn(row.metadata_text),
    error: row.error_key === null ? undefined : { key: row.error_key, detail: row.error_detail ?? undefined },
    recovery:
      row.status === 'uncertain'
        ? recoveryOf(JSON.parse(row.effect_profile_text) as EffectProfile)
        : undefined,
  };
}
