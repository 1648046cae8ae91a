import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterAll, describe, expect, it } from '@jest/globals';
import type { AccountId } from '../../db/account-id.js';
import { accountJwt } from './account-jwt.js';
import { BusKeys } from './bus-keys.js';
import { loadBusKeys } from './bus-keys-file.js';
import { serverConfig } from './server-config.js';

const secret = BusKeys.newSecret();
const account = 'a' as AccountId;
const folders: string[] = [];
const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'bus-keys-'));
  folders.push(folder);
  return folder;
};
afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true })));

const publicKeys = (keys: BusKeys): string[] =>
  [keys.operator, keys.system, keys.nodes, keys.account(account)].map(({ publicKey }) => publicKey);

describe('The keys of the bus', () => {
  it('are the same on every node that has the secret, and others for any other secret', () => {
    expect(publicKeys(new BusKeys(secret))).toEqual(publicKeys(new BusKeys(secret)));
    const all = [...publicKeys(new BusKeys(secret)), ...publicKeys(new BusKeys(BusKeys.newSecret()))];
    expect(new Set(all).size).toBe(8);
    expect(new BusKeys(secret).account('b' as AccountId).publicKey).not.toBe(all[3]);
  });

  it('are refused where the secret is no 32 bytes, without being told', () => {
    for (const text of ['', 'x', secret.slice(1), `${secret}=`, `${secret}A`]) {
      expect(() => new BusKeys(text)).toThrow(
        /^the keys of the bus are 32 random bytes, written as base64url$/,
      );
    }
  });

  it('do not show the secret to what prints them', () => {
    const keys = new BusKeys(Buffer.alloc(32, 7).toString('base64url'));
    expect(`${inspect(keys, { depth: 9 })}${JSON.stringify(keys)}`).not.toMatch(/07 07|7,7|BwcH/);
  });

  it('come from the file of the data folder, made for its owner alone by the first who asks', () => {
    const folder = join(newFolder(), 'home');
    const first = loadBusKeys(undefined, folder);
    expect(publicKeys(loadBusKeys(undefined, folder))).toEqual(publicKeys(first));
    expect(statSync(join(folder, 'bus.keys')).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(['bus.keys']);
  });

  it('come from the setting where it is given, which then is written nowhere', () => {
    const folder = newFolder();
    expect(publicKeys(loadBusKeys(secret, folder))).toEqual(publicKeys(new BusKeys(secret)));
    expect(readdirSync(folder)).toEqual([]);
  });

  it('name their source where they are none, and not what it holds', () => {
    const folder = newFolder();
    writeFileSync(join(folder, 'bus.keys'), 'hunter2');
    expect(() => loadBusKeys(undefined, folder)).toThrow(
      /bus\.keys: the keys of the bus are 32 random bytes/,
    );
    expect(() => loadBusKeys(undefined, folder)).not.toThrow(/hunter2/);
    expect(() => loadBusKeys('hunter2', folder)).toThrow(/^NEXUS_BUS_KEYS: the keys/);
  });
});

describe('What the server is told', () => {
  const keys = new BusKeys(secret);

  it('is the same configuration from every node, without a private key', () => {
    const place = { listen: '127.0.0.1:4222', dir: '/var/lib/nats' };
    const text = serverConfig(keys, place);
    expect(serverConfig(new BusKeys(secret), place)).toBe(text);
    for (const key of [keys.operator, keys.system, keys.nodes]) {
      expect(text).toContain(key.publicKey === keys.operator.publicKey ? 'operator: ey' : key.publicKey);
      expect(text).not.toContain(key.seed);
    }
    expect(text).not.toContain(secret);
  });

  it('of an account is every limit, and the users that are revoked for ever', () => {
    const jwt = accountJwt(keys, keys.account(account), { name: 'A – Ü', issuedAt: 7, revoked: ['U1'] });
    const claims = JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString()) as {
      name: string;
      iat: number;
      iss: string;
      sub: string;
      nats: { limits: Record<string, unknown>; revocations: Record<string, number> };
    };
    expect([claims.name, claims.iat, claims.iss, claims.sub]).toEqual([
      'A – Ü',
      7,
      keys.operator.publicKey,
      keys.account(account).publicKey,
    ]);
    expect(Object.values(claims.nats.limits)).toEqual([-1, -1, -1, -1, -1, true, -1, -1]);
    expect(claims.nats.revocations['U1']).toBeGreaterThan(Date.parse('2090-01-01') / 1_000);
  });
});
