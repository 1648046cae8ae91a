import { declareVerb } from '../doors/verb.js';
import { idempotencyKey, pageParameters } from './list-parameters.js';

const platformPlane = { plane: 'platform', rate: 'general', tag: 'Members' } as const;

const human = {
  public_id: '01990000-0000-7000-8000-000000000010',
  display_name: 'Ada',
  role: 'member',
  created_at: '2026-01-01T12:00:00.000Z',
} as const;

const rules = [
  { tool: 'read|ls', verdict: 'allow' },
  { tool: 'bash', path: 'command', match: 'rm *', verdict: 'deny', reason: 'Nothing is deleted here' },
] as const;

const agent = {
  public_id: '01990000-0000-7000-8000-000000000020',
  display_name: 'Build agent',
  steward_public_id: human.public_id,
  approval_floor: 'rules',
  approval_rules: rules,
  created_at: '2026-01-01T12:00:00.000Z',
} as const;

const change = { approval_floor: 'rules', approval_rules: rules } as const;

const RULES_DESCRIPTION =
  '`approval_floor` is the loosest mode that the agent’s runs may have: `ask` (default), `rules` or `bypass`. ' +
  '`approval_rules` come first in every mode: `{tool, path?, match?, effect?, verdict, reason?}`, the first match decides.';

export const createHumanVerb = declareVerb({
  ...platformPlane,
  name: 'create_human',
  summary: 'Add a human to the account',
  description: '`role` is `member` (default) or `admin`. A human acts with a credential, which is made next.',
  rest: { method: 'post', path: '/platform_api/v1/humans', status: 201 },
  parameters: [idempotencyKey],
  request: { example: { display_name: 'Ada', role: 'member' } },
  response: { description: 'The human.', example: { human } },
  refusals: ['parameter_missing', 'parameter_invalid', 'idempotency_conflict', 'validation_failed'],
});

export const listHumansVerb = declareVerb({
  ...platformPlane,
  name: 'list_humans',
  summary: 'List the humans of the account',
  rest: { method: 'get', path: '/platform_api/v1/humans' },
  parameters: pageParameters,
  response: {
    description: 'A page, oldest first.',
    example: { humans: [human], pagination: { next_after: null } },
  },
  refusals: ['parameter_invalid'],
});

export const createAgentVerb = declareVerb({
  ...platformPlane,
  name: 'create_agent',
  summary: 'Add an agent to the account',
  description: `An agent has one human steward, who answers for it. ${RULES_DESCRIPTION}`,
  rest: { method: 'post', path: '/platform_api/v1/agents', status: 201 },
  parameters: [idempotencyKey],
  request: { example: { display_name: 'Build agent', steward_public_id: human.public_id, ...change } },
  response: { description: 'The agent.', example: { agent } },
  refusals: ['parameter_missing', 'parameter_invalid', 'idempotency_conflict', 'validation_failed'],
});

export const listAgentsVerb = declareVerb({
  ...platformPlane,
  name: 'list_agents',
  summary: 'List the agents of the account',
  rest: { method: 'get', path: '/platform_api/v1/agents' },
  parameters: pageParameters,
  response: {
    description: 'A page, oldest first.',
    example: { agents: [agent], pagination: { next_after: null } },
  },
  refusals: ['parameter_invalid'],
});

export const changeAgentVerb = declareVerb({
  ...platformPlane,
  name: 'change_agent',
  summary: 'Set an agent’s floor and rules',
  description: `What is absent stays; runs that were accepted keep theirs. ${RULES_DESCRIPTION}`,
  rest: { method: 'patch', path: '/platform_api/v1/agents/{public_id}' },
  request: { example: change },
  response: { description: 'The agent.', example: { agent } },
  refusals: ['not_found', 'validation_failed'],
});

export const changeStewardedAgentVerb = declareVerb({
  plane: 'member',
  rate: 'general',
  tag: 'Profile',
  name: 'change_stewarded_agent',
  summary: 'Set the floor and rules of an agent that I steward',
  description: `Its steward only: not the agent itself, and everybody else finds no such agent. ${RULES_DESCRIPTION}`,
  rest: { method: 'patch', path: '/agent_api/v1/agents/{public_id}' },
  request: { example: change },
  response: { description: 'The agent.', example: { agent } },
  refusals: ['person_required', 'not_found', 'validation_failed'],
});
