import { inspect } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { nkeys as reference } from 'nats';
import { fromBase32, toBase32 } from './base32.js';
import { authenticatorOf, readCreds, writeCreds } from './creds.js';
import { NKey, type NKeyKind } from './nkey.js';

const KINDS: [NKeyKind, string][] = [
  ['operator', 'O'],
  ['account', 'A'],
  ['user', 'U'],
];
const seedBytes = fc.uint8Array({ minLength: 32, maxLength: 32 });

describe('An nkey', () => {
  it.each(KINDS)('of kind %s is what another implementation makes of its seed', (kind, letter) => {
    fc.assert(
      fc.property(seedBytes, (raw) => {
        const key = NKey.of(kind, raw);
        const same = reference.fromSeed(new TextEncoder().encode(key.seed));
        expect(same.getPublicKey()).toBe(key.publicKey);
        expect(new TextDecoder().decode(same.getSeed())).toBe(key.seed);
        expect([key.publicKey[0], key.seed.slice(0, 2)]).toEqual([letter, `S${letter}`]);
        expect(NKey.fromSeed(key.seed).publicKey).toBe(key.publicKey);
      }),
      { numRuns: 20 },
    );
  });

  it('signs what another implementation verifies', () => {
    const key = NKey.random('user');
    const words = new TextEncoder().encode('a nonce');
    const verifier = reference.fromPublic(key.publicKey);
    expect(verifier.verify(words, key.sign(words))).toBe(true);
    expect(verifier.verify(new TextEncoder().encode('another'), key.sign(words))).toBe(false);
  });

  it('is read from its seed alone: a wrong letter, length or kind is refused, and not told', () => {
    const { seed, publicKey } = NKey.random('user');
    const other = seed.endsWith('A') ? 'B' : 'A';
    const curve = new TextDecoder().decode(reference.createPair(reference.Prefix.Cluster).getSeed());
    for (const text of [
      '',
      'S',
      publicKey,
      seed.slice(1),
      `${seed}A`,
      seed.slice(0, -1) + other,
      curve,
      `${seed.slice(0, -1)}!`,
    ]) {
      const reading = (): unknown => NKey.fromSeed(text);
      expect(reading).toThrow(/^This is not the seed of an nkey$/);
    }
    expect(() => NKey.of('user', new Uint8Array(31))).toThrow(RangeError);
  });

  it('never shows its private half to what prints it', () => {
    const key = NKey.of('user', Buffer.alloc(32, 7));
    const shown = `${inspect(key, { depth: 9, showHidden: true })} ${JSON.stringify(key)}`;
    expect(shown).toContain(key.publicKey);
    expect(shown).not.toContain(key.seed);
    expect(shown).not.toMatch(/07 07|7,7|BwcH/);
  });
});

describe('base32', () => {
  it('reads what it wrote, and nothing but its letters', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        expect(fromBase32(toBase32(bytes))).toEqual(Buffer.from(bytes));
      }),
    );
    expect([fromBase32('a'), fromBase32('A1'), fromBase32('A=')]).toEqual([undefined, undefined, undefined]);
  });
});

describe('A .creds text', () => {
  it('is read back, and proves its key to a server’s nonce', () => {
    const key = NKey.random('user');
    const read = readCreds(writeCreds('a.b.c', key));
    expect([read.jwt, read.key.publicKey]).toEqual(['a.b.c', key.publicKey]);
    const { sig, ...rest } = authenticatorOf(read)('nonce') as { jwt: string; nkey: string; sig: string };
    expect(rest).toEqual({ jwt: 'a.b.c', nkey: key.publicKey });
    const verifier = reference.fromPublic(key.publicKey);
    expect(verifier.verify(new TextEncoder().encode('nonce'), Buffer.from(sig, 'base64url'))).toBe(true);
  });

  it('that is none is refused without telling what it holds', () => {
    const [whole, key] = [writeCreds('a.b.c', NKey.random('user')), NKey.random('user')];
    for (const text of ['', 'SECRET', key.seed, whole.slice(0, whole.indexOf('IMPORTANT'))]) {
      expect(() => readCreds(text)).toThrow('These are no NATS credentials: a JWT and a seed are expected');
    }
  });
});
