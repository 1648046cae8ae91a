/** Bodies of the executor plane on the bus, as chapters 2, 6 and 8 spell them. */

/** What names a task; the claim verbs carry it. */
export interface TaskName {
  readonly run_public_id: string;
  readonly task_key: string;
}

/** A push. It only brings a read forward: a lost one loses nothing. */
export type WorkPush = TaskName &
  (
    | { readonly event: 'work_available'; kind: string; tool_name: string }
    | { readonly event: 'work_canceled' }
  );

export interface InboxRow extends TaskName {
  readonly kind: string;
  readonly tool_name: string;
  readonly claimed: boolean;
}

export interface InboxPage {
  readonly tasks: readonly InboxRow[];
  readonly pagination: { readonly next_after: string | number | null };
}

/** The task of a claim, as far as an executor needs it. */
export interface ClaimedTask extends TaskName {
  readonly tool_name: string;
  readonly tool_alias?: string;
  readonly tool_input: unknown;
  readonly timeout_ms: number;
  readonly status: string;
}

export interface ClaimAnswer {
  readonly task: ClaimedTask;
  readonly claim: { readonly claim_token: string; readonly deadline_at: string };
}

export interface ExecutorAnswer {
  readonly executor: Readonly<Record<string, unknown>>;
  readonly measured_at: string;
}

/** What a commit says beside the name and the token. An absent key and `null` are two facts. */
export interface CommitBody {
  readonly content?: unknown;
  readonly structured_content?: unknown;
  readonly is_error?: boolean;
  readonly outcome?: 'completed' | 'failed';
  readonly title?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

export interface ProgressFrame extends TaskName {
  readonly claim_token: string;
  readonly text_tail?: string;
  readonly structured?: unknown;
}

export interface EffectProfile {
  readonly kind: 'pure' | 'read_only' | 'write';
  readonly destructive: boolean;
  readonly effect_scope: 'closed' | 'open';
  readonly idempotency: 'intrinsic' | 'keyed' | 'none';
  readonly reconciliation: 'none' | 'lookup';
}

/** An entry of an announcement's `tools` (chapter 2). */
export interface AnnouncedTool {
  readonly name: string;
  readonly effect_profile: EffectProfile;
  readonly description?: string;
  readonly input_schema?: object;
  readonly timeout_ms?: number;
  readonly module?: string;
}

export interface AnnouncedDocument {
  readonly name: string;
  readonly description: string;
}

/** How calls reach an executor (chapter 8): it claims them, or Nexus sends them to its tools' own subjects. */
export type Delivery = 'claim' | 'serve';

export interface AnnouncementBody {
  readonly tools: readonly AnnouncedTool[];
  readonly environment?: object;
  readonly documents?: readonly AnnouncedDocument[];
  /** Absent: `claim`. */
  readonly delivery?: Delivery;
  readonly max_in_flight?: number;
}

/** One entry of `error.details` of a refused announcement. */
export interface Fault {
  readonly path: string;
  readonly message: string;
}
