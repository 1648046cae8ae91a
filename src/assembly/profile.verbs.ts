import { declareVerb } from '../doors/verb.js';

const profile = { plane: 'member', rate: 'general', tag: 'Profile' } as const;

const configuration = {
  tool_definitions: [
    {
      type: 'function',
      function: {
        name: 'remote_read',
        description: 'Reads a file of the build box',
        parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
      },
      route: {
        kind: 'runner',
        runner_executor_public_id: '01990000-0000-7000-8000-000000000002',
        tool_name: 'read',
      },
    },
    { name: 'who_serves', canonical: 'nexus.runners.list' },
  ],
  runner_executor_public_ids: ['01990000-0000-7000-8000-000000000001'],
  runner_tool_names: null,
  approval_mode: 'ask',
};

const answered = {
  member: {
    public_id: '01990000-0000-7000-8000-00000000000a',
    kind: 'agent',
    display_name: 'Release agent',
    steward_public_id: '01990000-0000-7000-8000-00000000000b',
    approval_floor: 'ask',
    approval_rules: [],
    created_at: '2026-01-01T12:00:00.000Z',
  },
  configuration,
};

/** Chapter 4, Profile. */
export const profileVerb = declareVerb({
  ...profile,
  name: 'profile',
  summary: 'Who am I?',
  description:
    'The member behind the credential. An agent also sees its `configuration`, exactly as it was sent.',
  rest: { method: 'get', path: '/agent_api/v1/profile' },
  response: {
    description: 'The member; a human has a `role` where an agent has a steward.',
    example: answered,
  },
  refusals: [],
});

/** Chapter 4, Profile. */
export const configureVerb = declareVerb({
  ...profile,
  name: 'configure_profile',
  summary: 'Say what my runs receive',
  description:
    'A whole replacement of an agent’s configuration, stored verbatim: what is absent is cleared. It affects future runs ' +
    'only. A kernel tool is declared byte-equal to the catalogue, or as an alias `{name, canonical}`. `runner_tool_names` ' +
    'is null for all model-visible tools of the selected runner, or the exact ones. `approval_mode` is never looser than ' +
    'the floor set for the agent (`bypass` < `rules` < `ask`). Runners are checked when a run is assembled.',
  rest: { method: 'put', path: '/agent_api/v1/profile/configuration' },
  request: { description: 'The configuration itself.', example: configuration },
  response: { description: 'The profile with the new configuration.', example: answered },
  refusals: [
    'parameter_missing',
    'approval_floor',
    'not_agent',
    'duplicate_tool_name',
    'invalid_tool_route',
    'runner_target_required',
    'validation_failed',
  ],
});
