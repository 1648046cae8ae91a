import type { NKey } from '../../nkeys/nkey.js';
import type { BusKeys } from './bus-keys.js';
import { signJwt } from './jwt.js';

/** Every limit written out: the server reads one that is missing as 0, which is none at all. */
const NO_LIMITS = {
  subs: -1,
  data: -1,
  payload: -1,
  imports: -1,
  exports: -1,
  wildcards: true,
  conn: -1,
  leaf: -1,
};

/**
 * When a revoked user key may be used again: never. A key belongs to one credential, so a moment far ahead (2100) holds
 * whatever the clocks of nodes say, and the list says the same whoever writes it.
 */
const FOR_EVER = 4_102_444_800;

/** The operator's own JWT, which a server is configured with. Always the same text. */
export const operatorJwt = (keys: BusKeys): string =>
  signJwt(
    keys.operator,
    { name: 'Nexus', subject: keys.operator.publicKey, issuedAt: 0 },
    { type: 'operator', system_account: keys.system.publicKey },
  );

/** The JWT of an account without revocations, as the server's configuration holds it. Always the same text. */
export const fixedAccountJwt = (keys: BusKeys, account: NKey, name: string): string =>
  accountJwt(keys, account, { name, issuedAt: 0, revoked: [] });

/** What the server must know of one account: the public keys of `revoked` users can't connect, and are cut off. */
export function accountJwt(
  keys: BusKeys,
  account: NKey,
  claims: { readonly name: string; readonly issuedAt: number; readonly revoked: readonly string[] },
): string {
  const { name, issuedAt, revoked } = claims;
  return signJwt(
    keys.operator,
    { name, subject: account.publicKey, issuedAt },
    {
      type: 'account',
      limits: NO_LIMITS,
      default_permissions: { pub: {}, sub: {} },
      ...(revoked.length === 0
        ? {}
        : { revocations: Object.fromEntries(revoked.map((key) => [key, FOR_EVER])) }),
    },
  );
}
