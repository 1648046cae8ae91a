import { declareVerb } from '../doors/verb.js';

const platformPlane = { plane: 'platform', rate: 'general', tag: 'Retention' } as const;

const settings = { execution_details_retention_days: 90 } as const;

export const readRetentionVerb = declareVerb({
  ...platformPlane,
  name: 'read_retention',
  summary: 'Read how long the details of runs are kept',
  rest: { method: 'get', path: '/platform_api/v1/retention' },
  response: { description: 'Days after a run was completed; `null` keeps them for ever.', example: settings },
  refusals: [],
});

export const changeRetentionVerb = declareVerb({
  ...platformPlane,
  name: 'change_retention',
  summary: 'Set how long the details of runs are kept',
  description: 'A positive integer of days, or `null` to keep them for ever. Raising it brings nothing back.',
  rest: { method: 'patch', path: '/platform_api/v1/retention' },
  request: { example: settings },
  response: { description: 'The settings.', example: settings },
  refusals: ['parameter_missing', 'validation_failed'],
});
