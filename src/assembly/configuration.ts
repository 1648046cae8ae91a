import type { ApprovalMode } from './approval-mode.js';

/** Where a callable's calls go: one served tool at one runner. */
export interface RunnerRoute {
  readonly runnerId: string;
  readonly toolName: string;
}

/** A callable that the configuration spells out. */
export interface ExplicitDefinition {
  readonly kind: 'explicit';
  readonly name: string;
  /** The `function` member, byte for byte as it was sent. */
  readonly functionText: string;
  readonly description: string | undefined;
  /** Absent: the name is addressed by itself at acceptance (chapter 5). */
  readonly route: RunnerRoute | undefined;
  readonly deferLoading: boolean;
}

/** A kernel tool, under its own wire name or as an alias. */
export interface KernelDefinition {
  readonly kind: 'kernel';
  readonly name: string;
  readonly canonicalName: string;
  /** Replaces the catalogue's description; aliases only. */
  readonly description: string | undefined;
  readonly isAlias: boolean;
  readonly deferLoading: boolean;
}

export type ToolDefinition = ExplicitDefinition | KernelDefinition;

/** An agent's profile as rules read it (chapter 4). Immutable; `text` is what was sent. */
export interface Configuration {
  readonly text: string;
  /** SHA-256 of `text` in hex: names the configuration in caches. */
  readonly digest: string;
  /** In the order of the document. */
  readonly toolDefinitions: readonly ToolDefinition[];
  /** Canonical names to import. */
  readonly kernelTools: readonly string[];
  /** Ordered and unique. */
  readonly candidateIds: readonly string[];
  /** Served names to import from the selected runner; null is all of them. */
  readonly runnerToolNames: ReadonlySet<string> | null;
  readonly approvalMode: ApprovalMode | undefined;
  /** The rules as JSON text, verbatim. */
  readonly approvalRulesText: string | undefined;
}
