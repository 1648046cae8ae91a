import { declareVerb } from '../doors/verb.js';
import { idempotencyKey, pageParameters } from '../identity/list-parameters.js';

const platformPlane = { plane: 'platform', rate: 'general', tag: 'Mesh' } as const;

const module = { name: 'tools', declares_tools: true, interchangeable: false } as const;

const MEANING =
  'A module that `declares_tools` is missed where it should answer on the bus and does not; one without tools never is. An ' +
  '`interchangeable` module is served by tool providers, any of which may take a call: only they are assigned to it.';

export const listModulesVerb = declareVerb({
  ...platformPlane,
  name: 'list_modules',
  summary: 'List the modules of the account',
  description: MEANING,
  rest: { method: 'get', path: '/platform_api/v1/modules' },
  bus: 'member',
  busVerb: 'controller_modules',
  seat: { name: 'controller', endpoint: 'modules' },
  parameters: pageParameters,
  response: {
    description: 'A page, in the order of names.',
    example: { modules: [module], pagination: { next_after: null } },
  },
  refusals: ['parameter_invalid'],
});

export const createModuleVerb = declareVerb({
  ...platformPlane,
  name: 'create_module',
  summary: 'Add a module to the account',
  description: `One that a registration names is made by itself, with \`declares_tools: true\`. ${MEANING}`,
  rest: { method: 'post', path: '/platform_api/v1/modules', status: 201 },
  parameters: [idempotencyKey],
  request: { example: { name: 'memory', declares_tools: true, interchangeable: true } },
  response: {
    description: 'The module.',
    example: { module: { ...module, name: 'memory', interchangeable: true } },
  },
  refusals: [
    'parameter_missing',
    'parameter_invalid',
    'module_taken',
    'idempotency_conflict',
    'validation_failed',
  ],
});

export const changeModuleVerb = declareVerb({
  ...platformPlane,
  name: 'change_module',
  summary: 'Change a module',
  description: `What is absent stays. ${MEANING}`,
  rest: { method: 'patch', path: '/platform_api/v1/modules/{name}' },
  request: { example: { declares_tools: false } },
  response: { description: 'The module.', example: { module: { ...module, declares_tools: false } } },
  refusals: ['not_found', 'validation_failed'],
});
