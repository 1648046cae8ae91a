import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { mintToken, parseToken, sameSecret } from './token.js';

const PLANES = ['member', 'executor_transport', 'platform'] as const;

describe('A token (chapter 1)', () => {
  it.each([
    ['member', 'nxm_'],
    ['executor_transport', 'nxe_'],
    ['platform', 'nxp_'],
  ] as const)('of the plane %s is %s<credential id>_<32 random bytes, base64url>', (plane, prefix) => {
    const { id, token } = mintToken(plane);
    expect(token).toMatch(new RegExp(`^${prefix}${id}_[A-Za-z0-9_-]{43}$`));
    expect(Buffer.from(token.slice(prefix.length + id.length + 1), 'base64url')).toHaveLength(32);
  });

  it('is read as it was minted, and only its hash is kept', () => {
    for (const plane of PLANES) {
      const minted = mintToken(plane);
      const read = parseToken(minted.token);
      expect(read).toMatchObject({ plane, id: minted.id });
      expect(sameSecret(read?.secretSha256 ?? Buffer.alloc(0), minted.secretSha256)).toBe(true);
      expect(minted.token).not.toContain(minted.secretSha256.toString('base64url'));
    }
  });

  it('with any other secret is another', () => {
    const [one, other] = [mintToken('member'), mintToken('member')];
    expect(sameSecret(one.secretSha256, other.secretSha256)).toBe(false);
    expect(sameSecret(one.secretSha256, Buffer.alloc(0))).toBe(false);
  });

  it('that is malformed is none, whatever the text', () => {
    const { token } = mintToken('member');
    for (const text of [
      '',
      'nxm_',
      token.slice(0, -1),
      `${token}a`,
      ` ${token}`,
      `nxx${token.slice(3)}`,
      token.toUpperCase(),
    ]) {
      expect(parseToken(text)).toBeUndefined();
    }
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => parseToken(text) === undefined));
  });
});
