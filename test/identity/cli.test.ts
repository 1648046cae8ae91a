import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { createAccountAt } from '../../src/cli/create-account-at.js';
import { databaseUrl } from '../../src/cli/database-url.js';
import { nexusCommand } from '../../src/cli/nexus.command.js';
import { settingRows } from '../../src/config/env.js';
import { firstAccount, newHuman } from '../support/factories.js';
import { SERVERS } from '../support/database.js';
import { TestNode } from '../support/node.js';

let node: TestNode;
let folder: string;

beforeAll(async () => {
  node = await TestNode.start();
  folder = await mkdtemp(join(tmpdir(), 'nexus-cli-'));
});

afterAll(async () => {
  await node.close();
  await rm(folder, { recursive: true });
});

/** Runs a command in this process, and answers what it printed. */
async function run(args: string[], settings: NodeJS.ProcessEnv = {}): Promise<{ out: string; err: string }> {
  const printed = { out: '', err: '' };
  const { stdout, stderr, env } = process;
  const [writeOut, writeErr] = [stdout.write.bind(stdout), stderr.write.bind(stderr)];
  const collect = (name: 'out' | 'err') => (text: string | Uint8Array) => {
    printed[name] += String(text);
    return true;
  };
  stdout.write = collect('out');
  stderr.write = collect('err');
  process.env = { ...env, ...settings };
  try {
    await nexusCommand().parseAsync(['node', 'nexus', ...args]);
    return printed;
  } finally {
    process.env = env;
    stdout.write = writeOut;
    stderr.write = writeErr;
  }
}

describe('nexus bus-config', () => {
  it('prints what a server is configured with, the same from everybody with the same keys, and no key', async () => {
    const settings = { NEXUS_HOME: join(folder, 'bus') };
    const args = ['bus-config', '--listen', '0.0.0.0:4333', '--dir', '/var/lib/nats/jwt'];
    const { out } = await run(args, settings);
    expect(out).toMatch(/^listen: "0\.0\.0\.0:4333"$/m);
    expect(out).toMatch(/^ {2}dir: "\/var\/lib\/nats\/jwt"$/m);
    const secret = (await readFile(join(folder, 'bus', 'bus.keys'), 'utf8')).trim();
    expect((await run(args, { NEXUS_BUS_KEYS: secret })).out).toBe(out);
    expect(out).not.toContain(secret);
    expect(out).not.toMatch(/\bS[OAU][A-Z2-7]{56}\b/);
  });
});

describe('nexus accounts create', () => {
  it('prints the first platform secret of an account that sees nothing of the others', async () => {
    const human = await newHuman(node, await firstAccount(node));
    const { out, err } = await run(['accounts', 'create', 'Second'], {
      DATABASE_URL: node.env.DATABASE_URL,
    });
    expect(out).toMatch(/^nxp_[0-9a-f-]{36}_[\w-]{43}\n$/);
    expect(err).toMatch(/^Account "Second"/);
    expect(err).not.toContain(out.trim());
    const { body, text } = await node.http('GET', '/platform_api/v1/humans', { token: out.trim() });
    expect(body.humans).toHaveLength(1);
    expect(body.humans[0]).toMatchObject({ display_name: 'Administrator', role: 'admin' });
    expect(text).not.toContain(human.id);
  });

  it('finds the database of the Nexus that runs from NEXUS_HOME', async () => {
    await writeFile(join(folder, 'database.url'), `${node.env.DATABASE_URL}\n`);
    const { out } = await run(['accounts', 'create', 'Third'], { DATABASE_URL: '', NEXUS_HOME: folder });
    expect(out).toMatch(/^nxp_/);
  });

  it.each(['', '  ', 'a\nb', 'a'.repeat(201)])('refuses the name %j', async (name) => {
    await expect(createAccountAt(node.env.DATABASE_URL ?? '', name)).rejects.toThrow(/^the name must/);
  });

  it('says what to do where there is no schema, and no database', async () => {
    await expect(createAccountAt(SERVERS.postgres, 'x')).rejects.toThrow(/nexus migrate/);
    await expect(databaseUrl({ DATABASE_URL: undefined, NEXUS_HOME: '/nowhere' })).rejects.toThrow(
      /DATABASE_URL.*NEXUS_HOME/,
    );
  });
});

describe('nexus migrate', () => {
  it('brings an empty database to the newest schema, and finds nothing to do the second time', async () => {
    const admin = new pg.Client({ connectionString: SERVERS.postgres });
    await admin.connect();
    const name = `nexus_cli_${process.pid}`;
    const url = new URL(SERVERS.postgres);
    url.pathname = `/${name}`;
    try {
      await admin.query(`create database ${name}`);
      const settings = { DATABASE_URL: url.href };
      expect((await run(['migrate'], settings)).out).toMatch(/^Ran Identity/);
      expect((await run(['migrate'], settings)).out).toBe('The schema is current.\n');
      expect((await createAccountAt(url.href, 'first')).platformToken).toMatch(/^nxp_/);
    } finally {
      await admin.query(`drop database if exists ${name} with (force)`);
      await admin.end();
    }
  });
});

describe('nexus env', () => {
  it('lists every setting with its default and meaning', async () => {
    const { out } = await run(['env']);
    expect(
      out
        .trim()
        .split('\n')
        .map((line) => line.split(' ')[0]),
    ).toEqual(settingRows().map(({ name }) => name));
  });
});

describe('The nexus program', () => {
  it('that was not compiled says what to run', async () => {
    const copy = join(folder, 'src', 'cli', 'nexus.mjs');
    await cp(new URL('../../src/cli/nexus.mjs', import.meta.url), copy);
    const failed = promisify(execFile)(process.execPath, [copy, '--help']);
    await expect(failed).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('npm start') });
  });

  it('is what package.json calls nexus, and every command explains itself', async () => {
    const { bin } = JSON.parse(await readFile('package.json', 'utf8')) as { bin: { nexus: string } };
    expect(bin.nexus).toBe('src/cli/nexus.mjs');
    const { commands } = nexusCommand();
    expect(commands.map((command) => command.name())).toEqual([
      'accounts',
      'runner',
      'mesh',
      'migrate',
      'bus-config',
      'env',
      'openapi',
      'schema',
    ]);
    for (const command of commands) expect(command.description()).not.toBe('');
  });
});
