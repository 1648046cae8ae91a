import { hkdfSync, randomBytes } from 'node:crypto';
import type { AccountId } from '../../db/account-id.js';
import { NKey, type NKeyKind } from '../../nkeys/nkey.js';

/** 32 bytes as base64url: what `NEXUS_BUS_KEYS` and the file `bus.keys` hold. */
const SECRET = /^[A-Za-z0-9_-]{43}$/;

/**
 * The private keys of a managed bus: all of them derived from one secret (HKDF-SHA256), so that nodes which share it know
 * every key, an account's too as soon as the account is there, and none is ever stored. Whoever holds it rules the bus.
 */
export class BusKeys {
  /** Signs accounts; the server trusts it. */
  readonly operator: NKey;
  /** The account that tells the server about the others. */
  readonly system: NKey;
  /** The account of the nodes among themselves. */
  readonly nodes: NKey;
  readonly #secret: Buffer;
  private readonly accounts = new Map<AccountId, NKey>();

  /** Throws for a text that is not 32 bytes in base64url, without saying what it is. */
  constructor(secret: string) {
    if (!SECRET.test(secret))
      throw new Error('the keys of the bus are 32 random bytes, written as base64url');
    this.#secret = Buffer.from(secret, 'base64url');
    this.operator = this.derive('operator', 'operator');
    this.system = this.derive('account', 'system');
    this.nodes = this.derive('account', 'nodes');
  }

  /** Signs the users of one Nexus account. */
  account(accountId: AccountId): NKey {
    let key = this.accounts.get(accountId);
    if (!key) {
      key = this.derive('account', `account/${accountId}`);
      this.accounts.set(accountId, key);
    }
    return key;
  }

  /** A new secret, for whoever has none. */
  static newSecret(): string {
    return randomBytes(32).toString('base64url');
  }

  private derive(kind: NKeyKind, name: string): NKey {
    const seed = hkdfSync('sha256', this.#secret, Buffer.alloc(0), `nexus bus ${name}`, 32);
    return NKey.of(kind, new Uint8Array(seed));
  }
}
