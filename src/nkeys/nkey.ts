import { createPrivateKey, createPublicKey, type KeyObject, randomBytes, sign } from 'node:crypto';
import { fromBase32, toBase32 } from './base32.js';

export type NKeyKind = 'operator' | 'account' | 'user';

/** The first byte of an encoded public key, whose first letter names the kind: O, A or U. */
const PREFIX: Readonly<Record<NKeyKind, number>> = { operator: 14 << 3, account: 0, user: 20 << 3 };
const SEED_PREFIX = 18 << 3;

/** What stands before the 32 bytes of a seed in PKCS #8, for Ed25519 (RFC 8410). */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex');

/**
 * An Ed25519 key pair as NATS writes it. Signing is node:crypto's: a tenth of a millisecond, where the packages that do it
 * in JavaScript block the process for fifty.
 */
export class NKey {
  /** `O…`, `A…` or `U…`. */
  readonly publicKey: string;
  // private at run time too: whatever prints a key shows its public half only
  readonly #key: KeyObject;
  readonly #rawSeed: Uint8Array;

  private constructor(
    private readonly kind: NKeyKind,
    rawSeed: Uint8Array,
  ) {
    this.#rawSeed = rawSeed;
    this.#key = createPrivateKey({ key: Buffer.concat([PKCS8_HEAD, rawSeed]), format: 'der', type: 'pkcs8' });
    const spki = createPublicKey(this.#key).export({ format: 'der', type: 'spki' });
    this.publicKey = checked([PREFIX[kind]], spki.subarray(-32));
  }

  /** The same key for the same 32 bytes. Throws a RangeError for any other number of them. */
  static of(kind: NKeyKind, rawSeed: Uint8Array): NKey {
    if (rawSeed.length !== 32) throw new RangeError('The seed of a key is 32 bytes');
    return new NKey(kind, rawSeed);
  }

  static random(kind: NKeyKind): NKey {
    return new NKey(kind, randomBytes(32));
  }

  /** Reads a seed text, `S…`. Throws where it is none; the message never holds it. */
  static fromSeed(text: string): NKey {
    const bytes = fromBase32(text);
    // written in no other way: what is left over in the last letter is zero
    if (
      bytes?.length !== 36 ||
      toBase32(bytes) !== text ||
      bytes.readUInt16LE(34) !== crc16(bytes.subarray(0, 34))
    ) {
      throw new Error('This is not the seed of an nkey');
    }
    const head = bytes.readUInt16BE(0);
    const prefix = (head >> 3) & 0xff;
    const kind = (Object.keys(PREFIX) as NKeyKind[]).find((one) => PREFIX[one] === prefix);
    if (((head >> 8) & 0xf8) !== SEED_PREFIX || !kind) throw new Error('This is not the seed of an nkey');
    return new NKey(kind, bytes.subarray(2, 34));
  }

  /** The private key as text: `SO…`, `SA…` or `SU…`. Never logged. */
  get seed(): string {
    const prefix = PREFIX[this.kind];
    return checked([SEED_PREFIX | (prefix >> 5), (prefix & 31) << 3], this.#rawSeed);
  }

  sign(bytes: Uint8Array): Buffer {
    return sign(null, bytes, this.#key);
  }
}

function checked(prefix: readonly number[], bytes: Uint8Array): string {
  const body = Buffer.from([...prefix, ...bytes]);
  const sum = Buffer.alloc(2);
  sum.writeUInt16LE(crc16(body));
  return toBase32(Buffer.concat([body, sum]));
}

/** CRC-16/XMODEM. */
function crc16(bytes: Uint8Array): number {
  let sum = 0;
  for (const byte of bytes) {
    sum ^= byte << 8;
    for (let bit = 0; bit < 8; bit += 1) sum = ((sum << 1) ^ (sum & 0x8000 ? 0x1021 : 0)) & 0xffff;
  }
  return sum;
}
