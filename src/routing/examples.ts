/** What the Swagger document shows of runs, tasks and conversations. */
export const RUN_ID = '01990000-0000-7000-8000-000000000010';
export const RUNNER_ID = '01990000-0000-7000-8000-000000000001';
export const CONVERSATION_ID = '01990000-0000-7000-8000-000000000020';

const at = '2026-01-01T12:00:00.000Z';

export const conversationExample = {
  conversation: { public_id: CONVERSATION_ID, default_runner_executor_public_id: RUNNER_ID, created_at: at },
};

const runnerRow = {
  runner_executor_public_id: RUNNER_ID,
  display_name: 'Build box',
  environment: { os: 'linux' },
};

export const runExample = {
  public_id: RUN_ID,
  conversation_public_id: null,
  parent_run_public_id: null,
  status: 'open',
  approval_mode: 'ask',
  approval_rules: [],
  default_runner_executor_public_id: RUNNER_ID,
  tool_definitions: [
    {
      type: 'function',
      function: {
        name: 'read',
        description: 'Reads a file of the workspace',
        parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
      },
      route: { kind: 'runner', runner_executor_public_id: RUNNER_ID, tool_name: 'read' },
    },
  ],
  environment: {
    default_runner_executor_public_id: RUNNER_ID,
    executors: [runnerRow],
    runner_candidates: [runnerRow],
  },
  runner_effects: { status: 'untouched', runners: [] },
  created_at: at,
  completed_at: null,
};

export const stepsExample = [
  { call: { name: 'read', input: { path: 'README.md' }, key: 'first' } },
  {
    tool: {
      name: 'ls',
      input: { path: '.' },
      route: { kind: 'runner', runner_executor_public_id: RUNNER_ID },
      timeout_ms: 10_000,
    },
  },
];

export const taskExample = {
  run_public_id: RUN_ID,
  task_key: 'first',
  kind: 'tool_call',
  tool_name: 'read',
  tool_alias: 'read',
  tool_input: { path: 'README.md' },
  status: 'completed',
  generation: 1,
  effect_profile: {
    kind: 'read_only',
    destructive: false,
    effect_scope: 'closed',
    idempotency: 'intrinsic',
    reconciliation: 'none',
  },
  target: { executor_public_id: RUNNER_ID, display_name: 'Build box' },
  addressed_to: { role: 'runner', executor_public_id: RUNNER_ID },
  claimed_by: { executor_public_id: RUNNER_ID },
  approval: { origin: 'mode', decided_at: at },
  timeout_ms: 120_000,
  accepted_at: at,
  started_at: at,
  deadline_at: '2026-01-01T12:02:00.000Z',
  claimed_at: at,
  settled_at: at,
  content: '# Read me',
  is_error: false,
};

export const pagination = { next_after: null };
