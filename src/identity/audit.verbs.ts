import { declareVerb } from '../doors/verb.js';
import { pageParameters } from './list-parameters.js';

export const listAuditVerb = declareVerb({
  plane: 'platform',
  rate: 'general',
  tag: 'Audit',
  name: 'list_audit',
  summary: 'Read who did what',
  description:
    'Who registered, re-paired, revoked, minted, decided and changed settings, the newest first. Append-only, kept 400 ' +
    'days, without secrets or inputs.',
  rest: { method: 'get', path: '/platform_api/v1/audit' },
  parameters: pageParameters,
  response: {
    description: 'A page.',
    example: {
      entries: [
        {
          public_id: '01990000-0000-7000-8000-000000000060',
          at: '2026-01-01T12:00:00.000Z',
          actor_public_id: '01990000-0000-7000-8000-000000000010',
          action: 'executor.registered',
          subject_public_id: '01990000-0000-7000-8000-000000000040',
          detail: { kind: 'runner', credential_epoch: 1 },
        },
      ],
      pagination: { next_after: null },
    },
  },
  refusals: ['parameter_invalid'],
});
