import { declareVerb } from '../doors/verb.js';
import { pagination, RUNNER_ID, taskExample } from '../routing/examples.js';
import { idempotencyParameter, pageParameters } from '../routing/page-parameters.js';

const member = { plane: 'member', rate: 'work', tag: 'Approvals' } as const;
const platform = { plane: 'platform', rate: 'general', tag: 'Administration' } as const;

const MEMBER_TASK = '/agent_api/v1/runs/{run_public_id}/tasks/{task_key}';
const PLATFORM_TASK = '/platform_api/v1/runs/{run_public_id}/tasks/{task_key}';

const AT = '2026-01-01T12:00:00.000Z';
const DECIDER = '01990000-0000-7000-8000-000000000040';

const write = {
  kind: 'write',
  destructive: true,
  effect_scope: 'closed',
  idempotency: 'none',
  reconciliation: 'none',
} as const;

const call = {
  run_public_id: taskExample.run_public_id,
  task_key: 'first',
  kind: 'tool_call',
  tool_name: 'edit',
  tool_alias: 'edit',
  tool_input: { path: 'README.md', old_text: 'teh', new_text: 'the' },
  generation: 1,
  effect_profile: write,
  target: { executor_public_id: RUNNER_ID, display_name: 'Build box' },
  addressed_to: { role: 'runner', executor_public_id: RUNNER_ID },
  timeout_ms: 120_000,
  accepted_at: AT,
} as const;

const decided = { origin: 'human', decided_by: DECIDER, decided_at: AT } as const;
const restingExample = { ...call, status: 'needs_approval', deadline_at: '2026-01-02T12:00:00.000Z' };
const approvedExample = {
  ...call,
  status: 'dispatched',
  approval: decided,
  started_at: AT,
  deadline_at: '2026-01-01T12:02:00.000Z',
};
const deniedExample = {
  ...call,
  status: 'failed',
  approval: decided,
  settled_at: AT,
  error: { key: 'approval_denied', detail: 'Not on a Friday' },
};

const listed = {
  summary: 'What rests for a decision',
  parameters: pageParameters,
  response: { description: 'A page of tasks.', example: { tasks: [restingExample], pagination } },
  refusals: ['parameter_invalid'],
} as const;

const approval = {
  summary: 'Approve a call',
  response: {
    description: 'The task: on its way, failed where its target is gone, or resting again.',
    example: { task: approvedExample },
  },
} as const;

const denial = {
  summary: 'Deny a call',
  description: 'It fails with `approval_denied` and the reason, and is never delivered.',
  request: { example: { reason: 'Not on a Friday' } },
  response: { description: 'The failed task.', example: { task: deniedExample } },
} as const;

const APPROVAL_DESCRIPTION =
  'The same target is looked at once more. If what it announces (profile, description or schema) is no longer what the ' +
  'call rests with, the run’s policy is asked about the new entry and the call rests again with it, on a fresh clock. A ' +
  'target that serves the tool no more fails the task `tool_not_served`, a revoked one `executor_revoked`. A decision ' +
  'after the hold’s end settles the task `approval_expired` first.';

/** Chapter 6, Adjudication. */
export const listApprovalsVerb = declareVerb({
  ...member,
  ...listed,
  name: 'list_approvals',
  description:
    'In order of acceptance: calls of one’s own runs and of agents one stewards, and for administrators of the whole ' +
    'account. An agent decides nothing, so its list is empty. A page ends early where inputs reach 4 MiB.',
  rest: { method: 'get', path: '/agent_api/v1/approvals' },
});

export const approveVerb = declareVerb({
  ...member,
  ...approval,
  name: 'approve',
  description: `For the human whose run it is, the agent’s steward and administrators. ${APPROVAL_DESCRIPTION}`,
  rest: { method: 'post', path: `${MEMBER_TASK}/approve` },
  refusals: ['person_required', 'not_found', 'not_awaiting_approval', 'execution_details_pruned'],
});

export const denyVerb = declareVerb({
  ...member,
  ...denial,
  name: 'deny',
  rest: { method: 'post', path: `${MEMBER_TASK}/deny` },
  refusals: [
    'person_required',
    'not_found',
    'not_awaiting_approval',
    'execution_details_pruned',
    'validation_failed',
  ],
});

export const retryVerb = declareVerb({
  ...member,
  name: 'retry',
  summary: 'Try a task again',
  description:
    'Only what failed, timed out or is uncertain. A new generation at the same target, through the approval stage again ' +
    'with what the target announces now; tokens of before are stale, and the evidence of a write stays. Only people retry ' +
    'an operator capability.',
  rest: { method: 'post', path: `${MEMBER_TASK}/retry` },
  parameters: [idempotencyParameter],
  response: {
    description: 'The task in its new generation.',
    example: { task: { ...approvedExample, generation: 2, approval: { origin: 'mode', decided_at: AT } } },
  },
  refusals: [
    'parameter_invalid',
    'person_required',
    'not_found',
    'idempotency_conflict',
    'not_retryable',
    'run_stopped',
    'execution_details_pruned',
  ],
});

export const cancelVerb = declareVerb({
  ...member,
  name: 'cancel',
  summary: 'Cancel a task',
  description: 'Whoever has claimed it is told by `work_canceled`. Stopping the run cancels every open task.',
  rest: { method: 'post', path: `${MEMBER_TASK}/cancel` },
  response: {
    description: 'The canceled task.',
    example: { task: { ...approvedExample, status: 'canceled', settled_at: AT } },
  },
  refusals: ['not_found', 'already_terminal', 'execution_details_pruned'],
});

/** Chapter 1, Platform API: what the console page needs; an admin decides as the human they are. */
export const platformListApprovalsVerb = declareVerb({
  ...platform,
  ...listed,
  name: 'platform_list_approvals',
  description: 'All of the account, in order of acceptance. A page ends early where inputs reach 4 MiB.',
  rest: { method: 'get', path: '/platform_api/v1/approvals' },
});

export const platformApproveVerb = declareVerb({
  ...platform,
  ...approval,
  name: 'platform_approve',
  description: APPROVAL_DESCRIPTION,
  rest: { method: 'post', path: `${PLATFORM_TASK}/approve` },
  refusals: ['not_found', 'not_awaiting_approval', 'execution_details_pruned'],
});

export const platformDenyVerb = declareVerb({
  ...platform,
  ...denial,
  name: 'platform_deny',
  rest: { method: 'post', path: `${PLATFORM_TASK}/deny` },
  refusals: ['not_found', 'not_awaiting_approval', 'execution_details_pruned', 'validation_failed'],
});
