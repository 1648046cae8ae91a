import { declareVerb } from '../doors/verb.js';

const at = '2026-01-01T12:00:00.000Z';

/** Chapter 7, Evidence. */
export const conversationEffectsVerb = declareVerb({
  plane: 'member',
  rate: 'general',
  tag: 'Runs',
  name: 'read_runner_effects',
  summary: 'What may a conversation have done to runners?',
  description:
    'The first claimed write for each runner, over the run `from_run` and all later ones. It is evidence that an effect may ' +
    'have happened, never proof that a write completed; `unavailable` as soon as a pruned one of them could have written.',
  rest: { method: 'get', path: '/agent_api/v1/conversations/{public_id}/runner_effects' },
  parameters: [
    {
      name: 'from_run',
      in: 'query',
      description: 'The run of this conversation to begin with.',
      required: true,
      example: '01990000-0000-7000-8000-000000000010',
    },
  ],
  response: {
    description: 'The evidence.',
    example: {
      runner_effects: {
        status: 'touched',
        runners: [
          {
            runner_executor_public_id: '01990000-0000-7000-8000-000000000001',
            run_public_id: '01990000-0000-7000-8000-000000000010',
            task_key: 'first',
            claimed_at: at,
            checkpoint: { tree: '4b825dc6' },
          },
        ],
      },
    },
  },
  refusals: ['parameter_missing', 'parameter_invalid', 'not_found'],
});
