import type { MemberCaller } from '../doors/caller.js';
import type { FrozenRun } from './frozen-run.js';

/**
 * For whom a call counts when it is placed and approved: its caller, or the kernel, which only restores (chapter 7). The
 * kernel reaches operator capabilities and is granted what no rule denies.
 */
export interface CallAuthor {
  readonly kind: MemberCaller['kind'] | 'kernel';
  /** Whose scope an executor must admit, beside that of the run's principal. */
  readonly memberId: string;
}

/** The kernel calls in place of the run's principal, whoever asked it to. */
export const kernelAuthor = ({ principalId }: FrozenRun): CallAuthor => ({
  kind: 'kernel',
  memberId: principalId,
});
