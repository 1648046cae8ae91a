import { declareVerb } from '../doors/verb.js';
import { PROVIDER_FORMATS } from './provider-format.js';

const runnerId = '01990000-0000-7000-8000-000000000001';

const row = { runner_executor_public_id: runnerId, display_name: 'Build box', environment: { os: 'linux' } };

const read = {
  name: 'read',
  description: 'Reads a file of the workspace',
  parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
};

/** Chapter 4, Assembly. */
export const assemblyVerb = declareVerb({
  plane: 'member',
  rate: 'general',
  tag: 'Profile',
  name: 'assemble_tools',
  summary: 'What would a new run receive?',
  description:
    'Read-only: the code that freezes a run’s declaration, without the run. Only the selected runner contributes imported ' +
    'tools, each with its announced description and schema byte for byte and a route. Ineligible candidates are left out. ' +
    'An imported name that is taken or longer than 64 characters becomes `<name>_<8 hex>`, the same every time. A runner ' +
    'that announces `skill` and documents contributes a callable with its `documents`.',
  rest: { method: 'post', path: '/agent_api/v1/tools/assembly' },
  parameters: [
    {
      name: 'format',
      in: 'query',
      description: 'Also answer `provider_tools`, the same list in the wire shape of this provider.',
      enum: PROVIDER_FORMATS,
      example: 'openai',
    },
  ],
  request: {
    description:
      '`default_runner_executor_public_id` selects a runner; null selects none. `configuration` replaces that of the ' +
      'profile for this call; `{}` assembles nothing.',
    example: {
      default_runner_executor_public_id: runnerId,
      configuration: { runner_executor_public_ids: [runnerId], runner_tool_names: ['read'] },
    },
  },
  response: {
    description: 'The declaration, sorted by callable name.',
    example: {
      tool_definitions: [
        {
          type: 'function',
          function: read,
          route: { kind: 'runner', runner_executor_public_id: runnerId, tool_name: 'read' },
        },
      ],
      environment: {
        default_runner_executor_public_id: runnerId,
        executors: [row],
        runner_candidates: [row],
      },
      provider_tools: [{ type: 'function', function: read }],
    },
  },
  refusals: [
    'parameter_invalid',
    'parameter_missing',
    'not_agent',
    'duplicate_tool_name',
    'invalid_tool_route',
    'runner_not_declared',
    'runner_not_eligible',
    'runner_target_required',
    'tool_not_served',
    'validation_failed',
  ],
});
