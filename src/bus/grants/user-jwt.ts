import type { UserIdentity } from '../../nkeys/creds.js';
import { NKey } from '../../nkeys/nkey.js';
import { signJwt } from './jwt.js';
import { type Permissions, permissionClaims } from './permissions.js';

/** A new user of an account, with a key of its own. Its connection ends at `expiresAt`, rounded down to a second. */
export function newUser(
  account: NKey,
  name: string,
  permissions: Permissions | undefined,
  expiresAt?: Date | null,
): UserIdentity {
  const key = NKey.random('user');
  const head = {
    name,
    subject: key.publicKey,
    issuedAt: Math.floor(Date.now() / 1_000),
    expiresAt: expiresAt ? Math.floor(expiresAt.getTime() / 1_000) : undefined,
  };
  const claims = {
    type: 'user',
    subs: -1,
    data: -1,
    payload: -1,
    ...(permissions ? permissionClaims(permissions) : { pub: {}, sub: {} }),
  };
  return { jwt: signJwt(account, head, claims), key };
}
