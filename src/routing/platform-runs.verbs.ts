import { declareVerb } from '../doors/verb.js';
import { pagination, runExample, taskExample } from './examples.js';
import { pageParameters } from './page-parameters.js';
import { followRunVerb } from './runs.verbs.js';
import { readTaskVerb } from './tasks.verbs.js';

const platform = { plane: 'platform', rate: 'general', tag: 'Administration' } as const;

/** Chapter 1, Platform API: what the console page needs. */
export const platformRunsVerb = declareVerb({
  ...platform,
  name: 'platform_list_runs',
  summary: 'List the runs of the account',
  description: 'Newest first.',
  rest: { method: 'get', path: '/platform_api/v1/runs' },
  parameters: pageParameters,
  response: { description: 'A page of runs.', example: { runs: [runExample], pagination } },
  refusals: ['parameter_invalid'],
});

export const platformRunVerb = declareVerb({
  ...platform,
  name: 'platform_read_run',
  summary: 'Read a run of the account',
  rest: { method: 'get', path: '/platform_api/v1/runs/{run_public_id}' },
  response: { description: 'The run.', example: { run: runExample } },
  refusals: ['not_found'],
});

export const platformTasksVerb = declareVerb({
  ...platform,
  name: 'platform_list_tasks',
  summary: 'List the tasks of a run of the account',
  description: 'In order of acceptance. A page ends early where inputs and outputs reach 4 MiB.',
  rest: { method: 'get', path: '/platform_api/v1/runs/{run_public_id}/tasks' },
  parameters: pageParameters,
  response: { description: 'A page of tasks.', example: { tasks: [taskExample], pagination } },
  refusals: ['parameter_invalid', 'not_found', 'execution_details_pruned'],
});

export const platformTaskVerb = declareVerb({
  ...readTaskVerb,
  ...platform,
  name: 'platform_read_task',
  rest: { method: 'get', path: '/platform_api/v1/runs/{run_public_id}/tasks/{task_key}' },
});

/** Chapter 8: streams of the console page, read by `fetch` and ended when the credential is. */
export const platformFollowRunVerb = declareVerb({
  ...followRunVerb,
  ...platform,
  name: 'platform_follow_run',
  rest: { method: 'get', path: '/platform_api/v1/runs/{run_public_id}/events' },
});
