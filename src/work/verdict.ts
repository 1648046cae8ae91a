import { entryDigest } from '../routing/announced-entry.js';
import {
  approved,
  type Approved,
  denied,
  type DraftContext,
  granted,
  judge,
  type JudgedCall,
  resting,
  UNDECIDED,
} from '../routing/task-draft.js';
import type { Place } from '../routing/where-it-goes.js';

/** What adjudication makes of a task. `effect_profile` is null where the frozen one stays. */
export interface Verdict extends Approved {
  readonly effect_profile: string | null;
}

/** Why an agent's call fails whose tool has become an operator capability. */
export const PEOPLE_ONLY = 'only people call this tool now';

/** Where the task's target is now, or why it is nowhere. */
export type Found = Place | 'executor_revoked' | 'tool_not_served';

export interface RestingCall extends JudgedCall {
  /** What it rests with (`entryDigest`). */
  readonly announced_sha256: string | null;
  /** An agent called. */
  readonly isOfAgent: boolean;
}

/**
 * What a person's approval makes of a resting call (chapter 6, Adjudication). It goes to the target it was accepted for, if
 * that serves what the person was asked about. If the entry is another now, the policy is asked about that one: unless it
 * denies the call, the call rests again. An agent's call never reaches what has become an operator capability.
 */
export function approvalVerdict(call: RestingCall, found: Found, context: DraftContext): Verdict {
  const { memberId } = context.author;
  if (typeof found === 'string') return gone(found, memberId);
  if (found.isOperatorCapability && call.isOfAgent) {
    return { ...gone('tool_not_served', memberId), error_detail: PEOPLE_ONLY };
  }
  if (entryDigest(found.entries) === call.announced_sha256) {
    return { ...granted(found, context, call.input, 'human', memberId), effect_profile: null };
  }
  const decision = judge(call, found, context.policy);
  const stage = decision.verdict === 'deny' ? denied(decision) : resting(found);
  return { ...stage, effect_profile: found.profileText };
}

/** What a person's denial makes of a resting call: it fails with their reason, and is never delivered. */
export const denialVerdict = (memberId: string, reason: string | null): Verdict => ({
  ...UNDECIDED,
  effect_profile: null,
  status: 'failed',
  approval_origin: 'human',
  approval_by: memberId,
  error_key: 'approval_denied',
  error_detail: reason,
});

/** What a retry makes of a task: the approval stage as at acceptance, of what its target announces now. */
export function retryVerdict(call: JudgedCall, found: Found, context: DraftContext): Verdict {
  if (typeof found === 'string') return gone(found, null);
  return { ...approved(call, found, context), effect_profile: found.profileText };
}

/** Nobody is left at the target; whose approval came too late is kept. */
const gone = (errorKey: 'executor_revoked' | 'tool_not_served', by: string | null): Verdict => ({
  ...UNDECIDED,
  effect_profile: null,
  status: 'failed',
  approval_origin: by === null ? null : 'human',
  approval_by: by,
  error_key: errorKey,
});
