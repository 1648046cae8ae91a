import type { AccountId } from '../db/account-id.js';
import { statement } from '../db/statement.js';
import type { Credential } from './credential.entity.js';

export type CredentialRow = Pick<
  Credential,
  'id' | 'plane' | 'name' | 'expiresAt' | 'createdAt' | 'lastUsedAt'
>;

export const insertMemberCredential = statement<
  [
    id: string,
    AccountId,
    plane: 'member' | 'platform',
    name: string,
    memberId: string,
    secretSha256: Buffer,
    expiresAt: Date | null,
    busUserKey: string | null,
  ],
  CredentialRow
>(
  'credential_insert_member',
  `insert into credentials (id, account_id, plane, name, member_id, secret_sha256, expires_at, bus_user_key)
   values ($1, $2, $3, $4, $5, $6, $7, $8)
   returning id, plane, name, expires_at as "expiresAt", created_at as "createdAt", last_used_at as "lastUsedAt"`,
);

export const insertExecutorCredential = statement<
  [
    id: string,
    AccountId,
    name: string,
    executorId: string,
    epoch: number,
    secretSha256: Buffer,
    busUserKey: string | null,
  ],
  never
>(
  'credential_insert_executor',
  `insert into credentials (id, account_id, plane, name, executor_id, credential_epoch, secret_sha256, bus_user_key)
   values ($1, $2, 'executor_transport', $3, $4, $5, $6, $7)`,
);

/** `revoked` is whether this very statement revoked it; no row when the account has no such credential. */
export const revokeCredential = statement<
  [AccountId, credentialId: string],
  { revoked: boolean; executorId: string | null }
>(
  'credential_revoke',
  `with revoked as (
     update credentials set revoked_at = now() where account_id = $1 and id = $2 and revoked_at is null returning id
   )
   select exists (select from revoked) as revoked, executor_id as "executorId"
   from credentials where account_id = $1 and id = $2`,
);

/** Fences the credentials of an executor whose epoch is below `epoch`, and answers which those were. */
export const fenceCredentials = statement<[executorId: string, epoch: number], { id: string }>(
  'credential_fence',
  `update credentials set revoked_at = now()
   where executor_id = $1 and credential_epoch < $2 and revoked_at is null returning id`,
);
