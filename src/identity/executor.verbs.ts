import { declareVerb } from '../doors/verb.js';
import { idempotencyKey, pageParameters } from './list-parameters.js';

const platformPlane = { plane: 'platform', rate: 'general', tag: 'Executors' } as const;

export const executorExample = {
  public_id: '01990000-0000-7000-8000-000000000040',
  kind: 'runner',
  display_name: 'Build box',
  status: 'active',
  assignment_scope: 'account_wide',
  credential_epoch: 1,
  modules: ['tools'],
  machine: 'build-box',
  service_ids: 'pinned',
  shutdown_requested_at: null,
  presence: 'not_yet_seen',
  last_seen_at: null,
  connected_at: null,
} as const;

export const registrationExample = {
  executor: executorExample,
  secret: 'nxe_01990000-0000-7000-8000-000000000050_<43 characters>',
  bus: {
    servers: ['nats://127.0.0.1:7422'],
    credentials: '-----BEGIN NATS USER JWT-----\n…',
    subjects: {
      executor: 'nexus.v1.executor.01990000-0000-7000-8000-000000000040.1',
      work: 'nexus.v1.work.01990000-0000-7000-8000-000000000040.1',
      tool: 'nexus.v1.tool.01990000-0000-7000-8000-000000000040.1',
      inbox_prefix: '_INBOX.01990000-0000-7000-8000-000000000040-1',
    },
  },
} as const;

export const registerExecutorVerb = declareVerb({
  ...platformPlane,
  name: 'register_executor',
  summary: 'Register an executor, or re-pair it',
  description:
    'The key of a `runner` or `tool_provider` is its manager and `registration_identifier`, that of an ' +
    '`agent_application` its agent. A key that is taken is *re-paired* (`200`): the same `public_id` at the next ' +
    'epoch with a new secret, and every older secret is refused at once. Kind and `assignment_scope` stay as they were ' +
    'first registered. `modules` defaults to `["tools"]`, `machine` to a free slug of the identifier.',
  rest: { method: 'post', path: '/platform_api/v1/executors', status: 201, repeatStatus: 200 },
  parameters: [idempotencyKey],
  request: {
    example: {
      kind: 'runner',
      display_name: 'Build box',
      manager_public_id: '01990000-0000-7000-8000-000000000010',
      registration_identifier: 'build-box',
      assignment_scope: 'account_wide',
      modules: ['tools'],
      machine: 'build-box',
      service_ids: 'pinned',
    },
    description: '`manager_public_id` for a runner or provider, `agent_public_id` for an agent application.',
  },
  response: {
    description: 'The executor, its secret (shown this once) and how it speaks on NATS. `200` is a re-pair.',
    example: registrationExample,
  },
  refusals: [
    'parameter_missing',
    'parameter_invalid',
    'kind_mismatch',
    'assignment_taken',
    'idempotency_conflict',
    'validation_failed',
  ],
});

export const listExecutorsVerb = declareVerb({
  ...platformPlane,
  name: 'list_executors',
  summary: 'List the executors of the account, revoked ones too',
  rest: { method: 'get', path: '/platform_api/v1/executors' },
  parameters: pageParameters,
  response: {
    description: 'A page, oldest first.',
    example: { executors: [executorExample], pagination: { next_after: null } },
  },
  refusals: ['parameter_invalid'],
});

export const revokeExecutorVerb = declareVerb({
  ...platformPlane,
  name: 'revoke_executor',
  summary: 'Revoke an executor, for ever',
  description:
    'Its secrets are refused at once, and its open tasks settle: unclaimed ones `failed` / `executor_revoked`, claimed ' +
    'ones by the expiry rule. Its key may be registered anew, under a new `public_id`.',
  rest: { method: 'post', path: '/platform_api/v1/executors/{public_id}/revoke' },
  response: {
    description: 'The executor.',
    example: { executor: { ...executorExample, status: 'revoked' } },
  },
  refusals: ['not_found'],
});

export const shutDownExecutorVerb = declareVerb({
  ...platformPlane,
  name: 'shut_down_executor',
  summary: 'Stop giving new work to an executor',
  description: 'Admission of new work closes at once; work that is claimed may still commit.',
  rest: { method: 'post', path: '/platform_api/v1/executors/{public_id}/shutdown' },
  response: {
    description: 'The executor.',
    example: { executor: { ...executorExample, shutdown_requested_at: '2026-01-01T12:00:00.000Z' } },
  },
  refusals: ['not_found', 'executor_revoked'],
});

export const resumeExecutorVerb = declareVerb({
  ...platformPlane,
  name: 'resume_executor',
  summary: 'Give new work to an executor again',
  rest: { method: 'post', path: '/platform_api/v1/executors/{public_id}/resume' },
  response: { description: 'The executor.', example: { executor: executorExample } },
  refusals: ['not_found', 'executor_revoked'],
});
