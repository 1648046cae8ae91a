import { chmod, readFile, stat, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { arch, platform } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { ProgramOptions } from '../../src/runner/program/options.js';
import { runProgram } from '../../src/runner/program/run.js';
import type { SelfRegistration } from '../../src/runner/program/self-registration.js';
import { FakeNexus, Refusal } from './fake-nexus.js';
import { OwnNatsServer } from './own-nats-server.js';
import { ScratchRoot } from './scratch-root.js';

let server: OwnNatsServer;
let nexus: FakeNexus;
let scratch: ScratchRoot;
let running: { ended: Promise<unknown>; stop: AbortController }[];
let logged: string[];

beforeAll(async () => {
  server = await OwnNatsServer.start();
});
afterAll(() => server.stop());
beforeEach(async () => {
  [nexus, scratch] = await Promise.all([FakeNexus.start(server.url), ScratchRoot.make()]);
  running = [];
  logged = [];
});
afterEach(async () => {
  for (const { stop } of running) stop.abort();
  await Promise.allSettled(running.map(({ ended }) => ended));
  await Promise.all([nexus.close(), scratch.remove()]);
});

const outside = (name: string): string => join(scratch.outside, name);

/** Starts the program; `ended` settles as it does. */
function start(options: Partial<ProgramOptions>): { ended: Promise<void>; stop: AbortController } {
  const stop = new AbortController();
  const whole = {
    root: scratch.path,
    registration: outside('r.json'),
    allowBash: false,
    maxConcurrent: 4,
    graceMs: 100,
    checkpoints: outside('checkpoints'),
    verbose: false,
  };
  const log = (level: string, message: string): void => void logged.push(`${level} ${message}`);
  const ended = runProgram({ ...whole, ...options }, log, {
    stop: stop.signal,
    stopAtOnce: new AbortController().signal,
  });
  ended.catch(() => undefined);
  running.push({ ended, stop });
  return { ended, stop };
}

const saveRegistration = (file: string, mode = 0o600): Promise<void> =>
  writeFile(file, JSON.stringify(nexus.registration), { mode });

describe('The runner program', () => {
  it('announces its tools and its environment, serves the root folder, and stops when it is told to', async () => {
    await saveRegistration(outside('r.json'));
    await scratch.put('README.txt', 'hello');
    const { ended, stop } = start({});
    await nexus.until(() => nexus.announced !== undefined);
    expect(nexus.announced.tools.map(({ name }: { name: string }) => name)).toEqual([
      'read',
      'write',
      'edit',
      'ls',
      'grep',
      'files_bytes',
      'checkpoint_restore',
      'checkpoints',
    ]);
    expect(nexus.announced.environment).toMatchObject({
      os: platform(),
      arch: arch(),
      root: scratch.path,
      toolchains: { node: process.versions.node },
    });
    expect(await nexus.accept('read', { input: { path: 'README.txt' } }).committed).toMatchObject({
      content: 'hello',
    });
    expect(await nexus.accept('read', { input: { path: '../secret.txt' } }).committed).toMatchObject({
      is_error: true,
    });
    stop.abort();
    await ended;
    expect(nexus.asked.at(-1)).toMatchObject({ verb: 'describe', body: { leaving: true } });
    expect(logged.join('\n')).not.toContain(nexus.registration.secret);
  });

  it('takes a checkpoint before a write, which goes with its result, and puts it back', async () => {
    await saveRegistration(outside('r.json'));
    await scratch.put('a.txt', 'old');
    start({});
    await nexus.until(() => nexus.announced !== undefined);
    const input = { path: 'a.txt', content: 'new' };
    const written = await nexus.accept('write', { input }).committed;
    expect(written).toMatchObject({ metadata: { checkpoint: { id: expect.any(String) } } });
    const { checkpoint } = (written as { metadata: { checkpoint: unknown } }).metadata;
    const restored = await nexus.accept('checkpoint_restore', { input: { checkpoint } }).committed;
    expect(restored).toMatchObject({
      content: 'Put back 1 file, removed 0 files.',
      metadata: expect.anything(),
    });
    expect(await readFile(scratch.at('a.txt'), 'utf8')).toBe('old');
  });

  it('serves bash only where it is allowed, and says so', async () => {
    await saveRegistration(outside('r.json'));
    start({ allowBash: true });
    await nexus.until(() => nexus.announced !== undefined);
    expect(await nexus.accept('bash', { input: { command: 'echo $((6*7))' } }).committed).toMatchObject({
      content: '42\n',
    });
    expect(logged).toContain(
      'warn bash is served: any command, not confined to the root folder, with all rights of this account',
    );
  });

  it('uses other NATS servers than the registration names, when it is told to', async () => {
    const { registration } = nexus;
    const moved = { ...registration, bus: { ...registration.bus, servers: ['nats://127.0.0.1:1'] } };
    await writeFile(outside('r.json'), JSON.stringify(moved), { mode: 0o600 });
    start({ natsUrls: [server.url] });
    await nexus.until(() => nexus.announced !== undefined);
  });

  it.each([
    ['below the root folder', 'root/r.json', 'lies in the root folder, where every caller could read it'],
    ['missing', 'gone.json', 'ENOENT'],
  ])('refuses a registration that is %s', async (_, file, words) => {
    await saveRegistration(outside('root/r.json'));
    await expect(start({ registration: outside(file) }).ended).rejects.toThrow(words);
  });

  it('refuses a file that is no registration, and never shows what is in it', async () => {
    await writeFile(outside('r.json'), '"a secret', { mode: 0o600 });
    await expect(start({}).ended).rejects.toThrow(`${outside('r.json')} is not JSON`);
    await writeFile(outside('r.json'), '{"executor":{"public_id":"x"}}');
    await expect(start({}).ended).rejects.toThrow('secret is missing from the registration');
  });

  it('warns of a registration that others may read', async () => {
    await saveRegistration(outside('r.json'));
    await chmod(outside('r.json'), 0o644);
    start({});
    await nexus.until(() => nexus.announced !== undefined);
    expect(logged.join('\n')).toContain('is readable to others');
  });

  it('ends, saying why, when the registration is not good', async () => {
    await saveRegistration(outside('r.json'));
    nexus.intercept = () => new Refusal('unauthorized', 401);
    await expect(start({}).ended).rejects.toThrow('registered anew elsewhere, or revoked');
  });

  it('may be stopped while it waits for NATS', async () => {
    await saveRegistration(outside('r.json'));
    const { ended, stop } = start({ natsUrls: ['nats://127.0.0.1:1'] });
    while (!logged.some((line) => line.includes('NATS is not reachable yet')))
      await new Promise((resolve) => setTimeout(resolve, 5));
    stop.abort(new Error('told to stop'));
    await expect(ended).rejects.toThrow('told to stop');
  });
});

describe('A runner that registers itself', () => {
  let http: Server;
  let asked: { headers: Record<string, unknown>; path: string; body: unknown }[];
  let failures: number;

  beforeEach(async () => {
    asked = [];
    failures = 0;
    http = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        asked.push({
          headers: request.headers,
          path: request.url ?? '',
          body: JSON.parse(Buffer.concat(chunks).toString()),
        });
        const fails = failures-- > 0;
        const forbidden = request.headers.authorization !== 'Bearer nxm_human';
        response.statusCode = fails ? 503 : forbidden ? 401 : 201;
        const error = { error: { code: forbidden ? 'unauthorized' : 'unavailable', message: 'no' } };
        response.end(JSON.stringify(fails || forbidden ? error : nexus.registration));
      });
    });
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
    await writeFile(outside('human.secret'), 'nxm_human\n', { mode: 0o600 });
  });
  afterEach(() => new Promise((resolve) => http.close(resolve)));

  const request = (): SelfRegistration => ({
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    memberSecretFile: outside('human.secret'),
    name: 'Build box',
    identifier: 'build/box',
    folder: outside('runners'),
  });
  const saved = (): string => outside('runners/build%2Fbox.json');

  it('asks for a user_private runner of the human’s own, and keeps the answer for its owner alone', async () => {
    start({ registration: request() });
    await nexus.until(() => nexus.announced !== undefined);
    expect(asked).toMatchObject([
      {
        path: '/agent_api/v1/executors/registrations',
        body: {
          kind: 'runner',
          display_name: 'Build box',
          registration_identifier: 'build/box',
          assignment_scope: 'user_private',
        },
      },
    ]);
    expect(JSON.parse(await readFile(saved(), 'utf8'))).toEqual({
      ...nexus.registration,
      registered_at: request().url,
    });
    expect((await stat(saved())).mode & 0o777).toBe(0o600);
    expect((await stat(outside('runners'))).mode & 0o777).toBe(0o700);
  });

  it('uses what it kept as long as it is good, and registers again when it is not', async () => {
    const first = start({ registration: request() });
    await nexus.until(() => nexus.announced !== undefined);
    first.stop.abort();
    await first.ended;
    const second = start({ registration: request() });
    await nexus.until(() => nexus.count('announce') === 2);
    expect(asked).toHaveLength(1);
    second.stop.abort();
    await second.ended;
    let refusals = 1;
    nexus.intercept = () => (refusals-- > 0 ? new Refusal('unauthorized', 401) : undefined);
    start({ registration: request() });
    await nexus.until(() => nexus.count('announce') === 3);
    expect(asked).toHaveLength(2);
    expect(logged).toContain('warn the saved registration is no longer good; registering again');
  });

  it('repeats a registration whose answer was lost under one Idempotency-Key', async () => {
    failures = 2;
    start({ registration: request() });
    await nexus.until(() => nexus.announced !== undefined);
    expect(asked).toHaveLength(3);
    expect(new Set(asked.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
  });

  it('never throws away what it kept of another Nexus', async () => {
    start({ registration: request() });
    await nexus.until(() => nexus.announced !== undefined);
    const elsewhere = start({ registration: { ...request(), url: 'http://127.0.0.1:1' } });
    await expect(elsewhere.ended).rejects.toThrow('give another --identifier, or remove it');
  });

  it('says what Nexus says when it is refused', async () => {
    await writeFile(outside('human.secret'), 'nxm_wrong');
    await expect(start({ registration: request() }).ended).rejects.toMatchObject({
      code: 'unauthorized',
      status: 401,
    });
    expect(asked).toHaveLength(1);
  });

  it('refuses a member secret that lies below the root folder', async () => {
    await scratch.put('human.secret', 'nxm_human');
    const exposed = { ...request(), memberSecretFile: scratch.at('human.secret') };
    await expect(start({ registration: exposed }).ended).rejects.toThrow('lies in the root folder');
    expect(asked).toHaveLength(0);
  });
});
