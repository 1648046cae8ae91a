import { declareVerb } from '../doors/verb.js';
import { conversationExample, RUNNER_ID } from './examples.js';
import { idempotencyParameter } from './page-parameters.js';

const conversations = { plane: 'member', rate: 'general', tag: 'Runs' } as const;

/** Chapter 5, Hosts. */
export const createConversationVerb = declareVerb({
  ...conversations,
  name: 'create_conversation',
  summary: 'Start a conversation',
  description: 'Holds runs together. Its default runner is a convenience for runs and routes to come.',
  rest: { method: 'post', path: '/agent_api/v1/conversations', status: 201 },
  parameters: [idempotencyParameter],
  request: { example: { default_runner_executor_public_id: RUNNER_ID } },
  response: { description: 'It is there.', example: conversationExample },
  refusals: ['parameter_invalid', 'idempotency_conflict', 'runner_not_eligible', 'validation_failed'],
});

export const readConversationVerb = declareVerb({
  ...conversations,
  name: 'read_conversation',
  summary: 'Read a conversation',
  description: 'Seen by its principal, that agent’s steward and administrators.',
  rest: { method: 'get', path: '/agent_api/v1/conversations/{public_id}' },
  response: { description: 'The conversation.', example: conversationExample },
  refusals: ['not_found'],
});

export const setDefaultRunnerVerb = declareVerb({
  ...conversations,
  name: 'set_default_runner',
  summary: 'Set the default runner of a conversation',
  description: 'For future acceptance only: work that was accepted stays where it is. `null` is no default.',
  rest: { method: 'put', path: '/agent_api/v1/conversations/{public_id}/default_runner' },
  request: { example: { runner_executor_public_id: RUNNER_ID } },
  response: { description: 'The conversation with its new default.', example: conversationExample },
  refusals: ['parameter_missing', 'not_found', 'runner_not_eligible', 'validation_failed'],
});
