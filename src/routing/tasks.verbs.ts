import { declareVerb } from '../doors/verb.js';
import { consoleSeat } from '../kernel/console-tools.js';
import { acceptanceRefusals } from './acceptance-refusals.js';
import { pagination, RUN_ID, stepsExample, taskExample } from './examples.js';
import { idempotencyParameter, pageParameters } from './page-parameters.js';

const work = { plane: 'member', rate: 'work', tag: 'Runs' } as const;

/** Chapter 5, Hosts and Steps. */
export const acceptTasksVerb = declareVerb({
  ...work,
  name: 'accept_tasks',
  summary: 'Call tools',
  description:
    'Accepts 1 to 64 steps, all or none. `call` names a callable of the run’s frozen declaration; `tool` names a served ' +
    'tool, at a runner by its `route` or, without one, of the kernel, the agent’s application or the providers. What is ' +
    'accepted keeps its target, profile and deadline, whatever is announced later. `input` is passed on untouched, at ' +
    'most 256 KiB. A `key` is unique in the run, and minted when absent.',
  rest: { method: 'post', path: '/agent_api/v1/runs/{run_public_id}/tasks', status: 201 },
  parameters: [idempotencyParameter],
  request: { example: { steps: stepsExample } },
  response: { description: 'The tasks, in the order of the steps.', example: { tasks: [taskExample] } },
  refusals: acceptanceRefusals,
});

export const listTasksVerb = declareVerb({
  ...work,
  name: 'list_tasks',
  summary: 'List the tasks of a run',
  description: 'In order of acceptance. A page ends early where inputs and outputs reach 4 MiB.',
  rest: { method: 'get', path: '/agent_api/v1/runs/{run_public_id}/tasks' },
  parameters: pageParameters,
  response: { description: 'A page of tasks.', example: { tasks: [taskExample], pagination } },
  refusals: ['parameter_invalid', 'not_found', 'execution_details_pruned'],
});

export const readTaskVerb = declareVerb({
  ...work,
  name: 'read_task',
  waits: true,
  summary: 'Read a task, or wait for it',
  description: 'With `wait_ms` the answer comes when the task is settled, or as it is when the wait ends.',
  rest: { method: 'get', path: '/agent_api/v1/runs/{run_public_id}/tasks/{task_key}' },
  parameters: [
    {
      name: 'wait_ms',
      in: 'query',
      description: 'How long to wait at most, 0 to 60,000 milliseconds; 0 when absent.',
      example: 10_000,
    },
  ],
  response: { description: 'The task.', example: { task: taskExample } },
  refusals: ['parameter_invalid', 'not_found', 'execution_details_pruned'],
});

/** Chapter 8: the member plane of the bus. */
export const callVerb = declareVerb({
  ...work,
  name: 'call',
  waits: true,
  summary: 'Call a tool and wait for it',
  description:
    'Accepts one step, or the tool at an `address` with its `input`, in a new run when none is named, and answers when its ' +
    'task settles or `wait_ms` (60,000 when absent) have passed. A repeat with the same `idempotency_key` waits for the ' +
    'same task.',
  bus: 'member',
  seat: consoleSeat('call'),
  request: {
    example: { run_public_id: RUN_ID, step: stepsExample[0], wait_ms: 60_000, idempotency_key: 'b1c6f0a2' },
  },
  response: { description: 'The task.', example: { task: taskExample } },
  refusals: [...acceptanceRefusals, 'approval_floor', 'duplicate_tool_name', 'content_too_large'],
});
