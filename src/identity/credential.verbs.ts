import { declareVerb } from '../doors/verb.js';
import { idempotencyKey, pageParameters } from './list-parameters.js';

const platformPlane = { plane: 'platform', rate: 'general', tag: 'Credentials' } as const;

const credential = {
  public_id: '01990000-0000-7000-8000-000000000030',
  plane: 'member',
  name: 'laptop',
  expires_at: null,
  created_at: '2026-01-01T12:00:00.000Z',
  last_used_at: null,
} as const;

export const createCredentialVerb = declareVerb({
  ...platformPlane,
  name: 'create_credential',
  summary: 'Mint a credential for a member',
  description:
    'The whole token is in `secret`, shown this once; `bus` says where its holder speaks on NATS. A credential is of the ' +
    '`member` plane, or of the `platform` plane for a human who is an administrator. Without `expires_at` it lives until ' +
    'it is revoked.',
  rest: { method: 'post', path: '/platform_api/v1/members/{public_id}/credentials', status: 201 },
  parameters: [idempotencyKey],
  request: { example: { name: 'laptop', plane: 'member', expires_at: '2030-01-01T00:00:00Z' } },
  response: {
    description: 'The credential and its secret.',
    example: {
      credential,
      secret: 'nxm_01990000-0000-7000-8000-000000000030_<43 characters>',
      bus: {
        servers: ['nats://127.0.0.1:7422'],
        credentials: '-----BEGIN NATS USER JWT-----\n…',
        subjects: {
          member: 'nexus.v1.member.01990000-0000-7000-8000-000000000030',
          inbox_prefix: '_INBOX.01990000-0000-7000-8000-000000000030',
        },
      },
    },
  },
  refusals: [
    'parameter_missing',
    'parameter_invalid',
    'admin_required',
    'not_found',
    'idempotency_conflict',
    'validation_failed',
  ],
});

export const listCredentialsVerb = declareVerb({
  ...platformPlane,
  name: 'list_credentials',
  summary: 'List the credentials that were not revoked',
  rest: { method: 'get', path: '/platform_api/v1/credentials' },
  parameters: pageParameters,
  response: {
    description: 'A page, oldest first; never a secret.',
    example: { credentials: [credential], pagination: { next_after: null } },
  },
  refusals: ['parameter_invalid'],
});

export const revokeCredentialVerb = declareVerb({
  ...platformPlane,
  name: 'revoke_credential',
  summary: 'Revoke a credential, at once',
  description: 'It is refused on REST and on the bus before this answers. Revoking again is `204` too.',
  rest: { method: 'delete', path: '/platform_api/v1/credentials/{public_id}', status: 204 },
  response: { description: 'It is revoked.' },
  refusals: ['not_found'],
});
