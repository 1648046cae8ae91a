import type { ApprovalMode } from '../assembly/approval-mode.js';
import type { AccountId } from '../db/account-id.js';
import type { ApprovalRule } from '../kernel/approval-rules.js';
import type { ApprovalPolicy } from './approval-policy.js';
import type { Owned } from './viewer.js';

/** A run's frozen part as statements answer it, and how far it has come. */
export interface FrozenRunRow {
  readonly id: string;
  readonly account_id: AccountId;
  readonly principal_id: string;
  readonly steward_id: string | null;
  readonly conversation_id: string | null;
  readonly parent_run_id: string | null;
  readonly default_runner_id: string | null;
  readonly declaration_digest: Buffer | null;
  readonly approval_mode: ApprovalMode;
  readonly approval_rules_text: string;
  readonly steward_rules_text: string;
  readonly details_pruned_at: Date | null;
}

/** SQL: the select list of `FrozenRunRow`, of aliases of runs and of their principals' members. */
export const frozenRunColumns = (r: string, principal: string): string => `
  ${r}.id, ${r}.account_id, ${r}.principal_id, ${principal}.steward_id, ${r}.conversation_id, ${r}.parent_run_id,
  ${r}.default_runner_id, ${r}.declaration_digest, ${r}.approval_mode, ${r}.approval_rules::text as approval_rules_text,
  ${r}.steward_rules::text as steward_rules_text, ${r}.details_pruned_at`;

/**
 * What creation froze on a run (chapter 5): whose it is, where its calls may go, its approval policy. Nothing of it changes
 * but that retention prunes it. Whether the run was stopped is not remembered: the statements that write ask.
 */
export class FrozenRun implements Owned {
  private parsed: ApprovalPolicy | undefined;

  constructor(private readonly row: FrozenRunRow) {}

  get id(): string {
    return this.row.id;
  }

  get accountId(): AccountId {
    return this.row.account_id;
  }

  get principalId(): string {
    return this.row.principal_id;
  }

  get stewardId(): string | null {
    return this.row.steward_id;
  }

  get conversationId(): string | null {
    return this.row.conversation_id;
  }

  get isContinuation(): boolean {
    return this.row.parent_run_id !== null;
  }

  get defaultRunnerId(): string | null {
    return this.row.default_runner_id;
  }

  /** Names the declaration; null once retention has pruned it. */
  get declarationDigest(): Buffer | null {
    return this.row.declaration_digest;
  }

  get isPruned(): boolean {
    return this.row.details_pruned_at !== null;
  }

  get approvalMode(): ApprovalMode {
    return this.row.approval_mode;
  }

  get approvalRulesText(): string {
    return this.row.approval_rules_text;
  }

  get policy(): ApprovalPolicy {
    return (this.parsed ??= {
      mode: this.row.approval_mode,
      rules: JSON.parse(this.row.approval_rules_text) as ApprovalRule[],
      stewardRules: JSON.parse(this.row.steward_rules_text) as ApprovalRule[],
    });
  }
}
