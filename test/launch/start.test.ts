import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { freePort, isFree } from '../../src/launch/port.mjs';

interface Ready {
  readonly http_url: string;
  readonly docs_url: string;
  readonly nats_url: string;
  readonly pid: number;
  readonly local: {
    readonly agent_secret_file: string;
    readonly human_secret_file: string;
    readonly runner_executor_public_id: string;
  };
}

let home: string;
let ports: { http: number; nats: number; postgres: number };
const starts = new Set<Start>();

/** One `npm start`, without npm: what it printed, and how it ended. */
class Start {
  output = '';
  private readonly process: ChildProcess;
  private readonly ended: Promise<unknown[]>;

  constructor() {
    this.process = spawn(process.execPath, ['src/launch/start.mjs'], {
      env: {
        PATH: process.env['PATH'],
        HOME: process.env['HOME'],
        NEXUS_HOME: home,
        NEXUS_HTTP_PORT: String(ports.http),
        NEXUS_NATS_PORT: String(ports.nats),
        NEXUS_POSTGRES_PORT: String(ports.postgres),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.process.stdout, this.process.stderr])
      stream?.on('data', (chunk: Buffer) => (this.output += chunk.toString('utf8')));
    this.ended = once(this.process, 'exit');
    starts.add(this);
    void this.ended.then(() => starts.delete(this));
  }

  /** Waits until it has printed this. Throws where it ends before. */
  prints(text: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = () => void (this.output.includes(text) && resolve());
      for (const stream of [this.process.stdout, this.process.stderr]) stream?.on('data', look);
      void this.ended.then(() => reject(new Error(`It ended:\n${this.output}`)));
      look();
    });
  }

  signal(name: NodeJS.Signals): void {
    this.process.kill(name);
  }

  /** Its exit code; null when a signal ended it. */
  async exitCode(): Promise<number | null> {
    const [code] = await this.ended;
    return code as number | null;
  }
}

async function started(): Promise<Start> {
  const start = new Start();
  await start.prints('Ctrl-C stops all of it.');
  return start;
}

const json = async (name: string): Promise<unknown> => JSON.parse(await readFile(join(home, name), 'utf8'));
const ready = async (): Promise<Ready> => (await json('ready.json')) as Ready;
const allPortsAreFree = async () => (await Promise.all(Object.values(ports).map(isFree))).every(Boolean);

/** The commands of the README's tour, for this home and these ports. */
async function tour(): Promise<string> {
  const readme = await readFile('README.md', 'utf8');
  const [, chapter = ''] = /^## Five minutes with curl$([^]+?)^## /m.exec(readme) ?? [];
  const commands = [...chapter.matchAll(/^```sh$([^]+?)^```$/gm)].map(([, block = '']) => block).join('');
  return commands.replaceAll('.nexus/', `${home}/`).replaceAll(':7420', `:${ports.http}`);
}

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'nexus-start-'));
  ports = { http: await freePort(), nats: await freePort(), postgres: await freePort() };
});

afterAll(async () => {
  for (const start of starts) {
    start.signal('SIGTERM');
    await start.exitCode();
  }
  const elsewhere = await readFile(join(home, 'postgres.location'), 'utf8').catch(() => home);
  for (const folder of [elsewhere.trim(), home]) await rm(folder, { recursive: true, force: true });
});

describe('npm start', () => {
  let start: Start;
  let answers: Ready;

  it('brings up everything, and says in ready.json where it is', async () => {
    start = await started();
    answers = await ready();
    expect(answers).toEqual({
      http_url: `http://127.0.0.1:${ports.http}`,
      docs_url: `http://127.0.0.1:${ports.http}/docs`,
      nats_url: `nats://127.0.0.1:${ports.nats}`,
      pid: expect.any(Number),
      local: {
        agent_secret_file: join(home, 'agent.secret'),
        human_secret_file: join(home, 'human.secret'),
        runner_executor_public_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      },
    });
    expect((await fetch(answers.docs_url)).status).toBe(200);
    expect((await fetch(`${answers.http_url}/console/console.js`)).status).toBe(200);
  }, 90_000);

  it.each(['platform.secret', 'agent.secret', 'human.secret', 'runner.registration.json', 'ready.json'])(
    'keeps %s for its owner alone',
    async (name) => {
      expect((await stat(join(home, name))).mode & 0o777).toBe(0o600);
    },
  );

  it('prints one line that calls a tool of the local runner and prints its answer', async () => {
    const line = start.output.split('\n').find((printed) => printed.startsWith('  curl '))!;
    const { stdout } = await promisify(execFile)('/bin/sh', ['-c', line]);
    expect(JSON.parse(stdout)).toMatchObject({
      task: { status: 'completed', tool_name: 'ls', content: expect.stringContaining('README.txt') },
    });
  });

  it('refuses to start twice with one home', async () => {
    const second = new Start();
    expect(await second.exitCode()).toBe(1);
    expect(second.output).toContain(`already running with ${home} (pid ${answers.pid})`);
    expect((await ready()).pid).toBe(answers.pid);
  });

  it('stops everything at Ctrl-C, which npm passes on a second time', async () => {
    start.signal('SIGINT');
    start.signal('SIGINT');
    expect(await start.exitCode()).toBe(0);
    expect(await allPortsAreFree()).toBe(true);
    await expect(ready()).rejects.toThrow('ENOENT');
  });

  it('after it was killed, ends what it left running and goes on with the same data', async () => {
    start = await started();
    start.signal('SIGKILL');
    expect(await start.exitCode()).toBeNull();
    expect(await allPortsAreFree()).toBe(false);
    start = await started();
    expect((await ready()).local).toEqual(answers.local);
    const agent = (await readFile(answers.local.agent_secret_file, 'utf8')).trim();
    const runs = await fetch(`${answers.http_url}/agent_api/v1/runs`, {
      headers: { authorization: `Bearer ${agent}` },
    });
    expect(await runs.json()).toMatchObject({ runs: [{ status: 'completed' }] });
  }, 90_000);

  it('lets the README’s tour be pasted: a person approves what overwrites a file, and a restoration puts it back', async () => {
    const file = join(home, 'workspace', 'README.txt');
    const before = await readFile(file, 'utf8');
    const { stdout } = await promisify(execFile)('/bin/sh', ['-ec', await tour()]);
    expect(stdout).not.toContain('"error"');
    const told = [
      '"status":"untouched"',
      '"status":"needs_approval"',
      'Wrote 4 bytes to README.txt',
      '"status":"touched"',
      'Put back 1 file',
      JSON.stringify(before).slice(1, -1),
    ];
    const inOrder = told.filter(
      (text, index) => stdout.indexOf(text) > stdout.indexOf(told[index - 1] ?? ''),
    );
    expect(inOrder).toEqual(told);
    expect(await readFile(file, 'utf8')).toBe(before);
  }, 60_000);

  it('starts the local runner again when it ends', async () => {
    const children = (await json('children.json')) as { pid: number; mark: string }[];
    process.kill(children.find(({ mark }) => mark.endsWith('runner.registration.json'))!.pid, 'SIGKILL');
    await start.prints('the local runner ended (SIGKILL); it is started again');
  });

  it('ends with 1 when the node dies, with its last words', async () => {
    const children = (await json('children.json')) as { pid: number; mark: string }[];
    process.kill(children.find(({ mark }) => mark.endsWith('dist/src/main.js'))!.pid, 'SIGKILL');
    expect(await start.exitCode()).toBe(1);
    expect(start.output).toMatch(
      /Nexus ended \(SIGKILL\)[^]+Nest application successfully started[^]+Stopped\./,
    );
    expect(await allPortsAreFree()).toBe(true);
    await expect(ready()).rejects.toThrow('ENOENT');
  }, 30_000);

  it.each(['PostgreSQL …', 'NATS …', 'Nexus …', 'Local runner …'])(
    'leaves nothing behind when it is told to stop at "%s"',
    async (text) => {
      const start = new Start();
      await start.prints(text);
      start.signal('SIGINT');
      start.signal('SIGINT');
      expect(await start.exitCode()).toBe(0);
      expect(await allPortsAreFree()).toBe(true);
      await expect(json('children.json')).rejects.toThrow('ENOENT');
    },
    90_000,
  );

  it('names a port that is taken, and the variable to change', async () => {
    const other = createServer().listen(ports.nats, '127.0.0.1');
    await once(other, 'listening');
    const start = new Start();
    expect(await start.exitCode()).toBe(1);
    expect(start.output).toContain(`Port ${ports.nats} is taken by another program: set NEXUS_NATS_PORT`);
    other.close();
    await once(other, 'close');
    expect(await allPortsAreFree()).toBe(true);
  }, 30_000);
});
