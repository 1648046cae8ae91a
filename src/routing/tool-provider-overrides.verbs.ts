import { declareVerb } from '../doors/verb.js';

const platform = { plane: 'platform', rate: 'general', tag: 'Administration' } as const;

const settings = { overrides: ['memory_read', 'memory_write'] } as const;

/** Chapter 5, Where it goes. */
export const readOverridesVerb = declareVerb({
  ...platform,
  name: 'read_tool_provider_overrides',
  summary: 'Read which kernel names go to tool providers',
  rest: { method: 'get', path: '/platform_api/v1/tool_provider_overrides' },
  response: { description: 'The names.', example: settings },
  refusals: [],
});

export const replaceOverridesVerb = declareVerb({
  ...platform,
  name: 'replace_tool_provider_overrides',
  summary: 'Give kernel names to tool providers',
  description:
    'A whole replacement. Only the memory family may be given away: a call of such a name without a route goes to the ' +
    'providers that announce it, and where it is not listed it is `tool_not_served`. Accepted calls stay where they are.',
  rest: { method: 'put', path: '/platform_api/v1/tool_provider_overrides' },
  request: { example: settings },
  response: { description: 'The names.', example: settings },
  refusals: ['parameter_missing', 'validation_failed'],
});
