import { declareVerb } from '../doors/verb.js';
import { acceptanceRefusals } from './acceptance-refusals.js';
import { CONVERSATION_ID, pagination, runExample, RUNNER_ID, stepsExample } from './examples.js';
import { idempotencyParameter, pageParameters } from './page-parameters.js';

const work = { plane: 'member', rate: 'work', tag: 'Runs' } as const;

/** Chapter 5, Hosts. */
export const createRunVerb = declareVerb({
  ...work,
  name: 'create_run',
  summary: 'Start a run',
  description:
    'Assembles and freezes what the run may call: declaration, candidates, default runner and approval policy. ' +
    '`configuration` replaces the agent’s profile. `approval_mode` is the body’s, else the profile’s, else the agent’s ' +
    'floor; a human’s own run is `bypass`. `steps` are accepted with it, all or none. With `parent_run_public_id` the run ' +
    'continues another: it copies everything, may keep fewer callables by `tool_names` and be stricter, and no more.',
  rest: { method: 'post', path: '/agent_api/v1/runs', status: 201 },
  parameters: [idempotencyParameter],
  request: {
    example: {
      conversation_public_id: CONVERSATION_ID,
      default_runner_executor_public_id: RUNNER_ID,
      configuration: { runner_executor_public_ids: [RUNNER_ID] },
      approval_mode: 'ask',
      steps: stepsExample,
    },
  },
  response: { description: 'It is open.', example: { run: runExample } },
  refusals: [
    ...acceptanceRefusals,
    'approval_floor',
    'duplicate_tool_name',
    'runner_not_declared',
    'content_too_large',
  ],
});

export const listRunsVerb = declareVerb({
  ...work,
  name: 'list_runs',
  summary: 'List runs',
  description:
    'Newest first: one’s own, those of agents one stewards, and for administrators all of the account. A page ends early ' +
    'where its declarations reach 4 MiB.',
  rest: { method: 'get', path: '/agent_api/v1/runs' },
  parameters: pageParameters,
  response: { description: 'A page of runs.', example: { runs: [runExample], pagination } },
  refusals: ['parameter_invalid'],
});

export const readRunVerb = declareVerb({
  ...work,
  name: 'read_run',
  summary: 'Read a run',
  description:
    'Seen by its principal, that agent’s steward and administrators. `open` while a task is open or none was accepted, ' +
    'else `completed`; `stopped` for good.',
  rest: { method: 'get', path: '/agent_api/v1/runs/{run_public_id}' },
  response: { description: 'The run.', example: { run: runExample } },
  refusals: ['not_found'],
});

/** Chapter 6, Adjudication. */
export const stopRunVerb = declareVerb({
  ...work,
  name: 'stop_run',
  summary: 'Stop a run',
  description:
    'Cancels every open task and tells their claimants; later steps are refused `run_stopped`. Stopping again answers the ' +
    'same.',
  rest: { method: 'post', path: '/agent_api/v1/runs/{run_public_id}/stop' },
  response: {
    description: 'The stopped run.',
    example: { run: { ...runExample, status: 'stopped', completed_at: '2026-01-01T12:01:00.000Z' } },
  },
  refusals: ['not_found', 'execution_details_pruned'],
});

/** Chapter 5, Hosts: SSE. */
export const followRunVerb = declareVerb({
  ...work,
  name: 'follow_run',
  summary: 'Follow a run',
  description:
    'Server-sent events, to be read with `fetch` and the bearer header. `task` carries `{task}` as it is: of every task ' +
    'when the stream opens, then on each change. `progress` carries `{frame}` of a running call. Snapshots make up for ' +
    'whatever was missed, so `Last-Event-ID` may be sent and changes nothing. The stream ends with its credential.',
  rest: { method: 'get', path: '/agent_api/v1/runs/{run_public_id}/events' },
  parameters: [
    { name: 'Last-Event-ID', in: 'header', description: 'What the reader saw last; may be left out.' },
  ],
  response: {
    description: 'The stream.',
    type: 'text/event-stream',
    example:
      'event: task\nid: first.1.completed\ndata: {"task":{"task_key":"first","status":"completed"}}\n\n',
  },
  refusals: ['not_found', 'execution_details_pruned'],
});
