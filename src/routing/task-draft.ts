import { refuse } from '../errors/refusal.js';
import { JsonFault, parseStrict } from '../kernel/json/strict-parse.js';
import { newId } from '../db/ids.js';
import type { TaskDraft } from './accept-tasks.sql.js';
import type { CallAuthor } from './call-author.js';
import { type ApprovalPolicy, decide, type Decision, readsInput } from './approval-policy.js';
import { type KernelCallRun, runKernelTool } from './kernel-calls.js';
import type { Step } from './step.js';
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
export function draftTask(step: Step, ordinal: number, place: Place, context: DraftContext): TaskDraft {
  const { announcedTimeoutMs } = place;
  const timeoutMs = step.timeoutMs ?? announcedTimeoutMs ?? DEFAULT_TIMEOUT_MS;
  const isTimeoutGiven = step.timeoutMs !== undefined || announcedTimeoutMs !== undefined;
  return {
    ordinal,
    task_key: step.key ?? newId(),
    tool_name: place.toolName,
    tool_alias: step.kind === 'call' ? step.name : null,
    tool_call_id: step.kind === 'call' ? (step.toolCallId ?? null) : null,
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

type Approved = Pick<
  TaskDraft,
  | 'status'
  | 'approval_origin'
  | 'approval_by'
  | 'error_key'
  | 'error_detail'
  | 'content'
  | 'structured_content'
>;

const UNDECIDED: Approved = {
  status: 'needs_approval',
  approval_origin: null,
  approval_by: null,
  error_key: null,
  error_detail: null,
  content: null,
  structured_content: null,
};

function approved(step: Step, place: Place, context: DraftContext): Approved {
  const { verdict, origin, reason } = decision(step, place, context.policy);
  if (verdict === 'deny') {
    return {
      ...UNDECIDED,
      status: 'failed',
      approval_origin: origin,
      error_key: 'approval_denied',
      error_detail: reason ?? null,
    };
  }
  // a person who calls what only people can call has decided by calling it (chapter 6, Requests)
  if (place.isOperatorCapability && context.author.kind === 'human') {
    return {
      ...UNDECIDED,
      status: 'dispatched',
      approval_origin: 'human',
      approval_by: context.author.memberId,
    };
  }
  if (context.author.kind === 'kernel') {
    return { ...UNDECIDED, status: 'dispatched', approval_origin: 'kernel' };
  }
  if (verdict === 'ask') return UNDECIDED;
  const allowed: Approved = { ...UNDECIDED, status: 'dispatched', approval_origin: origin };
  if (place.role !== 'kernel') return allowed;
  const result = runKernelTool(place.toolName, context, step.input);
  if ('fault' in result) {
    return { ...allowed, status: 'failed', error_key: 'tool_failed', error_detail: result.fault };
  }
  const { contentText, structuredContentText } = result;
  return { ...allowed, status: 'completed', content: contentText, structured_content: structuredContentText };
}

function decision(step: Step, { toolName, profile }: Place, policy: ApprovalPolicy): Decision {
  const input = readsInput(policy, toolName) ? unambiguousInput(step) : step.input;
  return decide(policy, { toolName, profile, input });
}

/**
 * The input as every reader reads it. A rule that looks at it must not see another value than the runner will: a key that
 * stands twice is `invalid_json`.
 */
function unambiguousInput({ path, inputText }: Step): Readonly<Record<string, unknown>> {
  try {
    return parseStrict(inputText) as Record<string, unknown>;
  } catch (fault) {
    if (!(fault instanceof JsonFault)) throw fault;
    throw refuse('invalid_json', `${path}.input cannot be judged by the approval rules: ${fault.message}`);
  }
}
