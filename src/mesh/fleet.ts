import type { InfoAnswer, InfoEndpoint } from './info-answer.js';

/** An assignment: what should answer, and what its answers are held against (chapter 8). */
export interface Assignment {
  readonly module: string;
  readonly machine: string;
  readonly executorId: string;
  readonly kind: 'runner' | 'agent_application' | 'tool_provider';
  readonly serviceIds: 'pinned' | 'any';
  readonly lastSeenAt: Date | null;
  readonly declaresTools: boolean;
  readonly interchangeable: boolean;
  /** The id that its own announcement bound. */
  readonly boundId: string | null;
  /** Where it may serve: `…tool.<executor>.<epoch>`, and its work subject. */
  readonly subjects: { readonly tool: string; readonly work: string };
  /** Whether all that it announced must be served by request. */
  readonly serves: boolean;
  /** What it announced in this module. */
  readonly toolNames: ReadonlySet<string>;
}

/** What answers, and is who it says it is. */
export interface AnsweringService {
  readonly name: string;
  readonly id: string;
  readonly version: string;
  readonly machine: string;
  /** Null for a seat of Nexus itself. */
  readonly assignment: Assignment | null;
  /** Of an executor only what it announced, on its own subjects. */
  readonly endpoints: readonly InfoEndpoint[];
}

/** An answer that nobody expected, with whose record it names, if any. */
export interface UnexpectedService {
  readonly answer: InfoAnswer;
  readonly executorId: string | null;
  readonly reason: string;
}

/** What answered in one account, beside what should have. */
export interface Fleet {
  readonly askedAt: Date;
  readonly gatheredMs: number;
  readonly services: readonly AnsweringService[];
  readonly notAnswering: readonly Assignment[];
  readonly unexpected: readonly UnexpectedService[];
  readonly malformed: number;
  readonly assignments: readonly Assignment[];
}
