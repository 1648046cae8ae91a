import { declareVerb } from '../doors/verb.js';
import { RUN_ID, RUNNER_ID } from '../routing/examples.js';
import { idempotencyParameter } from '../routing/page-parameters.js';

const restorations = { plane: 'member', rate: 'general', tag: 'Runs' } as const;

const restorationExample = (status: 'running' | 'restored') => ({
  restoration: {
    public_id: '01990000-0000-7000-8000-000000000040',
    from_run_public_id: RUN_ID,
    run_public_id: '01990000-0000-7000-8000-000000000041',
    status,
    targets: [{ runner_executor_public_id: RUNNER_ID, status, task_key: RUNNER_ID }],
  },
});

/** Chapter 7, Restore. */
export const startRestorationVerb = declareVerb({
  ...restorations,
  name: 'start_restoration',
  summary: 'Put runners back to where they were before a run',
  description:
    'For each runner that the run `from_run_public_id` or a later one of this conversation touched, and that left a checkpoint ' +
    'before its first write, one call of its `checkpoint_restore`, granted unless a rule denies it. Each target settles on ' +
    'its own. `runner_executor_public_ids` narrows it to these runners. Started by the conversation’s principal, that ' +
    'agent’s steward or an administrator.',
  rest: {
    method: 'post',
    path: '/agent_api/v1/conversations/{conversation_public_id}/restorations',
    status: 202,
  },
  parameters: [idempotencyParameter],
  request: { example: { from_run_public_id: RUN_ID, runner_executor_public_ids: [RUNNER_ID] } },
  response: { description: 'It is under way.', example: restorationExample('running') },
  refusals: [
    'parameter_missing',
    'parameter_invalid',
    'not_found',
    'idempotency_conflict',
    'execution_details_pruned',
    'validation_failed',
  ],
});

export const readRestorationVerb = declareVerb({
  ...restorations,
  name: 'read_restoration',
  summary: 'How far has a restoration come?',
  description:
    'A target is `restored`, `failed` with the error of its task, or `unavailable`: it left no checkpoint (`no_checkpoint`), is ' +
    'gone, or does not serve `checkpoint_restore`. The whole is `running` until every target has settled, then `restored`, ' +
    '`partial` or `failed`.',
  rest: {
    method: 'get',
    path: '/agent_api/v1/conversations/{conversation_public_id}/restorations/{public_id}',
  },
  response: { description: 'The restoration.', example: restorationExample('restored') },
  refusals: ['not_found', 'execution_details_pruned'],
});
