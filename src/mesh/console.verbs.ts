import { declareVerb, type VerbParameter } from '../doors/verb.js';
import { consoleSeat } from '../kernel/console-tools.js';
import { acceptanceRefusals } from '../routing/acceptance-refusals.js';
import { RUN_ID, RUNNER_ID, taskExample } from '../routing/examples.js';
import { idempotencyParameter, pageParameters } from '../routing/page-parameters.js';

const member = { plane: 'member', rate: 'general', tag: 'Mesh' } as const;

const pagination = { next_after: null } as const;
const at = '2026-01-01T12:00:00.000Z';

const RULE =
  'It shows what answers on the bus and what the caller is eligible for, no more; it decides nothing.';

const effect_profile = {
  kind: 'read_only',
  destructive: false,
  effect_scope: 'closed',
  idempotency: 'intrinsic',
  reconciliation: 'none',
} as const;

const tool = {
  address: 'tools@build-box/ls',
  module: 'tools',
  machine: 'build-box',
  name: 'ls',
  description: 'Lists a folder',
  effect_profile,
  interchangeable: false,
} as const;

const silent = {
  module: 'tools',
  machine: 'attic',
  executor_public_id: '01990000-0000-7000-8000-000000000041',
  last_seen_at: at,
} as const;

export const meshMachinesVerb = declareVerb({
  ...member,
  name: 'mesh_machines',
  summary: 'List machines with what answers there',
  description: `And what should answer and does not. ${RULE}`,
  rest: { method: 'get', path: '/agent_api/v1/mesh/machines' },
  bus: 'member',
  busVerb: 'machines',
  seat: consoleSeat('machines'),
  parameters: pageParameters,
  response: {
    description: 'A page of machines, in the order of names.',
    example: {
      asked_at: at,
      machines: [
        {
          machine: 'build-box',
          services: [
            {
              name: 'tools',
              id: RUNNER_ID,
              executor_public_id: RUNNER_ID,
              display_name: 'Build box',
              tools: 5,
              state: 'answering',
            },
          ],
        },
      ],
      not_answering: [silent],
      pagination,
    },
  },
  refusals: ['parameter_invalid'],
});

export const meshServicesVerb = declareVerb({
  ...member,
  name: 'mesh_services',
  summary: 'List modules and seats with their instances',
  description: `Interchangeable or not. ${RULE}`,
  rest: { method: 'get', path: '/agent_api/v1/mesh/services' },
  bus: 'member',
  busVerb: 'services',
  seat: consoleSeat('services'),
  parameters: pageParameters,
  response: {
    description: 'A page of services, in the order of names.',
    example: {
      asked_at: at,
      services: [
        {
          name: 'tools',
          seat: null,
          interchangeable: false,
          instances: [
            { machine: 'build-box', id: RUNNER_ID, executor_public_id: RUNNER_ID, state: 'answering' },
          ],
        },
      ],
      pagination,
    },
  },
  refusals: ['parameter_invalid'],
});

const query: VerbParameter = {
  name: 'query',
  in: 'query',
  description: 'Words, each of which name, description, module or machine must hold.',
  example: 'folder',
};

export const meshToolsVerb = declareVerb({
  ...member,
  name: 'mesh_tools',
  summary: 'Find tools that answer, with the address of each',
  description:
    'An address is `<module>@<machine>/<tool>`, of an interchangeable module `<module>/<tool>`. Agents find what a model may ' +
    `be shown. A page ends early where it becomes long. ${RULE}`,
  rest: { method: 'get', path: '/agent_api/v1/mesh/tools' },
  bus: 'member',
  busVerb: 'tools',
  seat: consoleSeat('tools'),
  parameters: [query, ...pageParameters],
  response: {
    description: 'A page of tools, in the order of addresses.',
    example: { tools: [tool], pagination },
  },
  refusals: ['parameter_invalid'],
});

export const meshDescribeVerb = declareVerb({
  ...member,
  name: 'mesh_describe',
  summary: 'Describe the tool at an address',
  description:
    'Description, schema and effects as they were announced, and who answers. `<module>/<tool>` is enough where it means one ' +
    'instance; `ambiguous_address` lists the choices in `details`.',
  rest: { method: 'get', path: '/agent_api/v1/mesh/describe' },
  bus: 'member',
  busVerb: 'describe',
  seat: consoleSeat('describe'),
  parameters: [
    {
      name: 'address',
      in: 'query',
      description: 'The tool’s address.',
      required: true,
      example: tool.address,
    },
  ],
  response: {
    description: 'The tool.',
    example: {
      tool: {
        address: tool.address,
        module: 'tools',
        name: 'ls',
        description: 'Lists a folder',
        input_schema: { type: 'object' },
        effect_profile,
        timeout_ms: 30_000,
        interchangeable: false,
        instances: [
          {
            machine: 'build-box',
            executor_public_id: RUNNER_ID,
            display_name: 'Build box',
            state: 'answering',
          },
        ],
      },
    },
  },
  refusals: [
    'parameter_missing',
    'parameter_invalid',
    'not_found',
    'ambiguous_address',
    'invalid_tool_route',
  ],
});

export const meshCallVerb = declareVerb({
  ...member,
  rate: 'work',
  name: 'mesh_call',
  waits: true,
  summary: 'Call the tool at an address and wait for it',
  description:
    'An ordinary call: accepted, in a new run when none is named, by the rules of a `{tool}` step; the answer is its task when ' +
    'it settles, or as it is after 60 s. Nothing is picked silently: `ambiguous_address` lists the choices in `details`. On ' +
    'the bus it is the verb `call`.',
  rest: { method: 'post', path: '/agent_api/v1/mesh/call' },
  parameters: [idempotencyParameter],
  request: {
    example: { address: tool.address, input: { path: '.' }, timeout_ms: 30_000, run_public_id: RUN_ID },
  },
  response: { description: 'The task.', example: { task: taskExample } },
  refusals: [...acceptanceRefusals, 'approval_floor', 'duplicate_tool_name', 'content_too_large'],
});
