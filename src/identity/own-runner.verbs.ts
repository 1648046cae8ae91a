import { declareVerb } from '../doors/verb.js';
import { executorExample, registrationExample } from './executor.verbs.js';
import { idempotencyKey, pageParameters } from './list-parameters.js';

const memberPlane = { plane: 'member', rate: 'general', tag: 'My runners' } as const;

const runner = { ...executorExample, assignment_scope: 'user_private' } as const;

export const registerOwnRunnerVerb = declareVerb({
  ...memberPlane,
  name: 'register_own_runner',
  summary: 'Register a runner of my own, or re-pair it',
  description:
    'A `user_private` runner that the calling human manages: for them and the agents they steward. Everything else that ' +
    'can be registered is named by administrators. The same `registration_identifier` again re-pairs it (`200`).',
  rest: { method: 'post', path: '/agent_api/v1/executors/registrations', status: 201, repeatStatus: 200 },
  parameters: [idempotencyKey],
  request: {
    example: {
      kind: 'runner',
      display_name: 'My laptop',
      registration_identifier: 'laptop',
      assignment_scope: 'user_private',
    },
  },
  response: {
    description: 'The runner, its secret (shown this once) and how it speaks on NATS. `200` is a re-pair.',
    example: { ...registrationExample, executor: runner },
  },
  refusals: [
    'parameter_missing',
    'parameter_invalid',
    'admin_required',
    'person_required',
    'kind_mismatch',
    'assignment_taken',
    'idempotency_conflict',
    'validation_failed',
  ],
});

export const listOwnRunnersVerb = declareVerb({
  ...memberPlane,
  name: 'list_own_runners',
  summary: 'List the runners of my own, revoked ones too',
  rest: { method: 'get', path: '/agent_api/v1/executors/registrations' },
  parameters: pageParameters,
  response: {
    description: 'A page, oldest first.',
    example: { executors: [runner], pagination: { next_after: null } },
  },
  refusals: ['parameter_invalid', 'person_required'],
});

export const revokeOwnRunnerVerb = declareVerb({
  ...memberPlane,
  name: 'revoke_own_runner',
  summary: 'Revoke a runner of my own, for ever',
  rest: { method: 'post', path: '/agent_api/v1/executors/registrations/{public_id}/revoke' },
  response: { description: 'The runner.', example: { executor: { ...runner, status: 'revoked' } } },
  refusals: ['person_required', 'not_found'],
});

export const shutDownOwnRunnerVerb = declareVerb({
  ...memberPlane,
  name: 'shut_down_own_runner',
  summary: 'Stop giving new work to a runner of my own',
  rest: { method: 'post', path: '/agent_api/v1/executors/registrations/{public_id}/shutdown' },
  response: {
    description: 'The runner.',
    example: { executor: { ...runner, shutdown_requested_at: '2026-01-01T12:00:00.000Z' } },
  },
  refusals: ['person_required', 'not_found', 'executor_revoked'],
});

export const resumeOwnRunnerVerb = declareVerb({
  ...memberPlane,
  name: 'resume_own_runner',
  summary: 'Give new work to a runner of my own again',
  rest: { method: 'post', path: '/agent_api/v1/executors/registrations/{public_id}/resume' },
  response: { description: 'The runner.', example: { executor: runner } },
  refusals: ['person_required', 'not_found', 'executor_revoked'],
});
