import { declareVerb } from '../doors/verb.js';
import { pageParameters } from '../identity/list-parameters.js';

const controller = { plane: 'platform', rate: 'general', tag: 'Mesh', bus: 'member' } as const;

const pagination = { next_after: null } as const;

export const listMachinesVerb = declareVerb({
  ...controller,
  name: 'list_machines',
  summary: 'List the machines of the account',
  description:
    'Every machine on which an executor is assigned a module, whether or not anything answers there.',
  rest: { method: 'get', path: '/platform_api/v1/machines' },
  busVerb: 'controller_machines',
  seat: { name: 'controller', endpoint: 'machines' },
  parameters: pageParameters,
  response: {
    description: 'A page, in the order of names.',
    example: { machines: [{ machine: 'build-box', modules: ['tools'] }], pagination },
  },
  refusals: ['parameter_invalid'],
});

export const listAssignmentsVerb = declareVerb({
  ...controller,
  name: 'list_assignments',
  summary: 'List who is assigned which module where',
  rest: { method: 'get', path: '/platform_api/v1/assignments' },
  busVerb: 'controller_assignments',
  seat: { name: 'controller', endpoint: 'assignments' },
  parameters: pageParameters,
  response: {
    description: 'A page, in the order of machines and modules.',
    example: {
      assignments: [
        {
          module: 'tools',
          machine: 'build-box',
          executor_public_id: '01990000-0000-7000-8000-000000000040',
          kind: 'runner',
        },
      ],
      pagination,
    },
  },
  refusals: ['parameter_invalid'],
});
