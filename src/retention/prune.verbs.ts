import { declareVerb } from '../doors/verb.js';

/** Chapter 7, Retention. */
export const pruneVerb = declareVerb({
  plane: 'platform',
  rate: 'general',
  tag: 'Retention',
  name: 'prune_retention',
  summary: 'Prune what is due now',
  description:
    'What happens every night, at once and for this account: runs that were completed longer ago than the retention lose ' +
    'their tasks and their frozen declaration. It answers when it is done, with what it pruned; asked again it goes on.',
  rest: { method: 'post', path: '/platform_api/v1/retention/prune' },
  response: {
    description: 'How many runs were pruned, and how many tasks and declarations were deleted.',
    example: { pruned: { runs: 12, tasks: 340, declarations: 3 } },
  },
  refusals: [],
});
