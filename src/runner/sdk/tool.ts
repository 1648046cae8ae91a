import type { AnnouncedDocument, AnnouncedTool, CommitBody } from './wire.js';

/** A tool as a runner serves it: what is announced of it, and the handler that carries a call out. */
export interface ServedTool extends AnnouncedTool {
  /**
   * Carries out one call. What it returns is the result. A thrown `ToolError` is a result too: the tool ran and reports
   * an error (`is_error`). Anything else thrown means that the call could not be run (`outcome: "failed"`).
   */
  readonly handler: (input: unknown, context: ToolContext) => Promise<ToolResult> | ToolResult;
}

export interface ToolContext {
  /**
   * Aborts when the call is canceled, lost to its deadline, or the runner must stop; the reason says which. The call
   * stays claimed until the handler has ended, so that its last word still arrives.
   */
  readonly signal: AbortSignal;
  /**
   * When the claim ends unless it is extended, by this machine's clock. Measured from the answer of the claim and its
   * remaining time, since clocks may differ by minutes. The SDK extends it at half the park while the handler works.
   */
  readonly deadlineAt: Date;
  readonly runPublicId: string;
  readonly taskKey: string;
  /**
   * Says how things were before the call: `metadata.checkpoint`, the evidence that a restoration goes by (chapter 7). It goes
   * with whatever is committed, also when the handler throws or is stopped; metadata that it returns comes first.
   */
  readonly checkpoint: (value: unknown) => void;
  /** Shows how far the call is. At most one frame leaves each 250 ms, the latest; a lost one is not sent again. */
  readonly progress: (frame: { text_tail?: string; structured?: unknown }) => void;
}

/** A string is `content`. An object says each part of the commit by its name (chapter 6). Nothing: no content. */
export type ToolResult = string | Omit<CommitBody, 'outcome'> | void;

/** Thrown by a handler: the tool ran and reports an error, which is the result of the call. */
export class ToolError extends Error {
  override readonly name: string = 'ToolError';

  constructor(
    message: string,
    readonly structuredContent?: unknown,
  ) {
    super(message);
  }
}

/** Why a call's signal aborted. */
export class CallEndedError extends Error {
  override readonly name = 'CallEndedError';

  constructor(
    readonly why: 'canceled' | 'claim_lost' | 'deadline_passed' | 'runner_stopping',
    message: string,
  ) {
    super(message);
  }
}

/** All that a runner serves: a whole replacement of what it announced before. */
export interface Announcement {
  readonly tools: readonly ServedTool[];
  readonly environment?: object;
  readonly documents?: readonly AnnouncedDocument[];
}
