import { refuse } from '../errors/refusal.js';
import { JsonFault, parseStrict } from '../kernel/json/strict-parse.js';
import { newId } from '../db/ids.js';
import type { TaskDraft } from './accept-tasks.sql.js';
import { entryDigest } from './announced-entry.js';
import type { CallAuthor } from './call-author.js';
import { type ApprovalPolicy, decide, type Decision, readsInput } from './approval-policy.js';
import { type KernelCallRun, runKernelTool } from './kernel-calls.js';
import type { DirectStep, Step } from './step.js';
import type { Place } from './where-it-goes.js';

/** A call's deadline when neither its step nor its announcement names one (chapter 5). */
const DEFAULT_TIMEOUT_MS = 120_000;
/** What an extension may reach where neither was given (chapter 6, Extend). */
const EXTENSION_BOUND_MS = 3_600_000;

/** What of its run and of its author decides about a call. */
export interface DraftContext extends KernelCallRun {
  readonly policy: ApprovalPolicy;
  readonly author: CallAuthor;
}

/** The row of a step that goes to `place`: frozen target, profile, deadline and approval (chapters 5 and 6). */
export function draftTask(step: DirectStep, ordinal: number, place: Place, context: DraftContext): TaskDraft {
  const { announcedTimeoutMs } = place;
  const timeoutMs = step.timeoutMs ?? announcedTimeoutMs ?? DEFAULT_TIMEOUT_MS;
  const isTimeoutGiven = step.timeoutMs !== undefined || announcedTimeoutMs !== undefined;
  return {
    ordinal,
    task_key: step.key ?? newId(),
    tool_name: place.toolName,
    tool_alias: step.kind === 'call' ? step.name : null,
    tool_call_id: step.toolCallId ?? null,
    tool_input: step.inputText,
    effect_profile: place.profileText,
    addressed_role: place.role,
    addressed_id: place.executorId,
    announcement_version: place.announcementVersion,
    timeout_ms: timeoutMs,
    extension_bound_ms: isTimeoutGiven ? Math.max(timeoutMs, announcedTimeoutMs ?? 0) : EXTENSION_BOUND_MS,
    ...approved(step, place, context),
  };
}

/** What the approval stage makes of a call, as the tasks' columns hold it. */
export type Approved = Pick<
  TaskDraft,
  | 'status'
  | 'approval_origin'
  | 'approval_by'
  | 'error_key'
  | 'error_detail'
  | 'content'
  | 'structured_content'
  | 'announced_sha256'
>;

/** Nothing is decided: the call rests. */
export const UNDECIDED: Approved = {
  status: 'needs_approval',
  approval_origin: null,
  approval_by: null,
  error_key: null,
  error_detail: null,
  content: null,
  structured_content: null,
  announced_sha256: null,
};

/** A call as the approval stage reads it. */
export type JudgedCall = Pick<Step, 'path' | 'input' | 'inputText'>;

/** The approval stage (chapter 6): whether the call goes to `place`, rests or is denied. */
export function approved(step: JudgedCall, place: Place, context: DraftContext): Approved {
  const decision = judge(step, place, context.policy);
  const { verdict, origin } = decision;
  if (verdict === 'deny') return denied(decision);
  // a person who calls what only people can call has decided by calling it (chapter 6, Requests)
  if (place.isOperatorCapability && context.author.kind === 'human') {
    return granted(place, context, step.input, 'human', context.author.memberId);
  }
  if (context.author.kind === 'kernel') return granted(place, context, step.input, 'kernel', null);
  if (verdict === 'ask') return resting(place);
  return granted(place, context, step.input, origin, null);
}

/** The call rests with what is announced now. */
export const resting = ({ entries }: Place): Approved => ({
  ...UNDECIDED,
  announced_sha256: entryDigest(entries),
});

/** A rule denies the call. */
export const denied = ({ origin, reason }: Decision): Approved => ({
  ...UNDECIDED,
  status: 'failed',
  approval_origin: origin,
  error_key: 'approval_denied',
  error_detail: reason ?? null,
});

/** The call goes: to whoever is addressed, or through the kernel, which answers at once where it can. */
export function granted(
  { role, toolName }: Pick<Place, 'role' | 'toolName'>,
  run: KernelCallRun,
  input: Step['input'],
  origin: NonNullable<Approved['approval_origin']>,
  by: string | null,
): Approved {
  const allowed: Approved = {
    ...UNDECIDED,
    status: 'dispatched',
    approval_origin: origin,
    approval_by: by,
  };
  if (role !== 'kernel') return allowed;
  const result = runKernelTool(toolName, run, input);
  if (!result) return allowed;
  if ('fault' in result) {
    return { ...allowed, status: 'failed', error_key: 'tool_failed', error_detail: result.fault };
  }
  const { contentText, structuredContentText } = result;
  return { ...allowed, status: 'completed', content: contentText, structured_content: structuredContentText };
}

/** What the run's policy says of the call at `place`. */
export function judge(step: JudgedCall, { toolName, profile }: Place, policy: ApprovalPolicy): Decision {
  const input = readsInput(policy, toolName) ? unambiguousInput(step) : step.input;
  return decide(policy, { toolName, profile, input });
}

/**
 * The input as every reader reads it. A rule that looks at it must not see another value than the runner will: a key that
 * stands twice is `invalid_json`.
 */
function unambiguousInput({ path, inputText }: JudgedCall): Readonly<Record<string, unknown>> {
  try {
    return parseStrict(inputText) as Record<string, unknown>;
  } catch (fault) {
    if (!(fault instanceof JsonFault)) throw fault;
    throw refuse('invalid_json', `${path}.input cannot be judged by the approval rules: ${fault.message}`);
  }
}
