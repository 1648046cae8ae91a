import { declareVerb } from '../doors/verb.js';
import { pagination, RUN_ID, RUNNER_ID, taskExample } from '../routing/examples.js';

const executorPlane = {
  plane: 'executor_transport',
  rate: 'work',
  tag: 'Executor',
  bus: 'executor',
} as const;

/** Where REST finds one task of the inbox; on the bus both are fields of the body. */
const TASK = '/agent_api/v1/executor/inbox/{run_public_id}/{task_key}';

const CLAIM_TOKEN = 'q3mW1zG5uN8bT0yR2xK7vQ4cJ6hL9pDf_aSeXoIiUwE';
const DEADLINE = '2026-01-01T12:02:00.000Z';

const { content: _content, settled_at: _settledAt, is_error: _isError, ...openTask } = taskExample;
const claimExample = {
  task: { ...openTask, status: 'dispatched' },
  claim: { claim_token: CLAIM_TOKEN, deadline_at: DEADLINE },
};

/** Chapter 6, Inbox. */
export const inboxVerb = declareVerb({
  ...executorPlane,
  name: 'inbox',
  summary: 'What waits for this executor',
  description:
    'State, not a queue: complete, oldest first, and reading takes nothing. Calls addressed to this executor, those of ' +
    'pools whose names it announces and it is eligible for, and for an agent’s application that agent’s approvals. A ' +
    'page ends early at 512 KiB. On the bus `work_available` only brings a read forward.',
  rest: { method: 'get', path: '/agent_api/v1/executor/inbox' },
  parameters: [
    { name: 'limit', in: 'query', description: 'Rows on the page, 1 to 200; 50 when absent.', example: 50 },
    { name: 'after', in: 'query', description: 'The page behind this cursor, a `next_after`.' },
  ],
  response: {
    description: 'A page of rows.',
    example: {
      tasks: [
        {
          kind: 'tool_call',
          run_public_id: RUN_ID,
          conversation_public_id: null,
          parent_run_public_id: null,
          task_key: 'first',
          tool_name: 'read',
          tool_alias: 'read',
          tool_input: { path: 'README.md' },
          started_at: '2026-01-01T12:00:00.000Z',
          deadline_at: DEADLINE,
          timeout_ms: 120_000,
          claimed: false,
          addressed_to: { role: 'runner', executor_public_id: RUNNER_ID },
        },
      ],
      pagination,
    },
  },
  refusals: ['parameter_invalid'],
});

/** Chapter 6, Claim. */
export const claimVerb = declareVerb({
  ...executorPlane,
  name: 'claim',
  summary: 'Take a call',
  description:
    'Claiming is the fetch: the answer holds the input. Bring a token of your own (22 to 128 base64url characters) and a ' +
    'lost answer costs nothing, since claiming again with it answers the same claim; without one it is minted. The clock ' +
    'restarts at `timeout_ms`. A tool that is not announced any more settles the task `failed`.',
  rest: { method: 'post', path: `${TASK}/claim` },
  request: { example: { claim_token: CLAIM_TOKEN } },
  response: { description: 'The task and its claim.', example: claimExample },
  refusals: [
    'parameter_missing',
    'not_found',
    'not_addressed_here',
    'not_claimable_kind',
    'executor_revoked',
    'task_not_claimable',
    'already_claimed',
    'stale_claim',
    'not_eligible',
    'tool_not_served',
    'execution_details_pruned',
    'validation_failed',
  ],
});

/** Chapter 6, Claim status. */
export const claimStatusVerb = declareVerb({
  ...executorPlane,
  name: 'claim_status',
  rate: 'claim_status',
  summary: 'Does a claim still hold?',
  description:
    'A pure read. `active` is false once the task is settled or past its deadline: the work may be dropped.',
  rest: { method: 'get', path: `${TASK}/claim` },
  parameters: [
    {
      name: 'Claim-Token',
      in: 'header',
      description: 'The token of the claim. On the bus the field `claim_token`.',
      required: true,
      example: CLAIM_TOKEN,
    },
  ],
  response: { description: 'Whether it holds.', example: { claim: { active: true } } },
  refusals: [
    'parameter_missing',
    'parameter_invalid',
    'not_found',
    'not_claimant',
    'execution_details_pruned',
  ],
});

/** Chapter 6, Extend. */
export const extendVerb = declareVerb({
  ...executorPlane,
  name: 'extend',
  summary: 'Move the deadline of a claim',
  description:
    'The deadline becomes now + `timeout_ms`, which is bounded by the larger of the frozen and the announced timeout. The ' +
    'token and the task’s own `timeout_ms` stay as they are.',
  rest: { method: 'post', path: `${TASK}/extend` },
  request: { example: { claim_token: CLAIM_TOKEN, timeout_ms: 60_000 } },
  response: { description: 'The task and its claim.', example: claimExample },
  refusals: [
    'parameter_missing',
    'not_found',
    'extension_too_long',
    'not_extendable',
    'not_claimant',
    'stale_claim',
    'execution_details_pruned',
    'invalid_timeout_ms',
    'validation_failed',
  ],
});

/** Chapter 6, Commit. */
export const commitVerb = declareVerb({
  ...executorPlane,
  name: 'commit',
  summary: 'Settle a call with its result',
  description:
    'Write-once: a repeated commit answers the task unchanged. `outcome: "failed"` says that the tool could not run, ' +
    '`is_error: true` that it ran and reports an error. The deadline wins: a late commit settles the task by the expiry ' +
    'rule, and only `metadata.checkpoint` is kept. A refused result leaves the claim standing, except ' +
    '`result_unstorable`, which closes the task.',
  rest: { method: 'post', path: `${TASK}/commit` },
  request: {
    description: 'At most 768 KiB of `content` and `structured_content`, and 64 KiB of `metadata`.',
    example: {
      claim_token: CLAIM_TOKEN,
      content: [{ type: 'text', text: '# Read me' }],
      structured_content: { lines: 1 },
      is_error: false,
      outcome: 'completed',
      title: 'Read README.md',
      metadata: { checkpoint: { id: 'c1' } },
    },
  },
  response: { description: 'The settled task.', example: { task: taskExample } },
  refusals: [
    'parameter_missing',
    'not_found',
    'not_addressed_here',
    'task_not_running',
    'stale_claim',
    'execution_details_pruned',
    'result_too_large',
    'invalid_content',
    'unsupported_content_kind',
    'too_many_content_blocks',
    'metadata_too_large',
    'invalid_title',
    'result_unstorable',
    'validation_failed',
  ],
});

/** Chapter 6, Progress. */
export const progressVerb = declareVerb({
  ...executorPlane,
  name: 'progress',
  rate: 'progress',
  summary: 'Show how far a call is',
  description:
    'Shown to whoever follows the run, never stored. More than one frame in 250 ms for a task is dropped.',
  rest: { method: 'post', path: '/agent_api/v1/executor/progress', status: 202 },
  request: {
    description: 'A frame of at most 64 KiB.',
    example: {
      frame: {
        run_public_id: RUN_ID,
        task_key: 'first',
        claim_token: CLAIM_TOKEN,
        text_tail: '12 of 40 files',
        structured: { done: 12, of: 40 },
      },
    },
  },
  response: { description: 'It was taken, or dropped.', example: {} },
  refusals: [
    'parameter_missing',
    'not_found',
    'not_claimant',
    'execution_details_pruned',
    'frame_too_large',
    'validation_failed',
  ],
});
