import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connect, type Msg } from 'nats';
import pg from 'pg';
import { authenticatorOf, readCreds } from '../../src/nkeys/creds.js';
import {
  connectRunner,
  type Registration,
  type Runner,
  type ServedTool,
} from '../../src/runner/sdk/index.js';
import { Cluster, type NodeProcess, until } from '../support/cluster.js';
import { READ_ONLY, WRITE } from '../support/factories.js';

if (!existsSync('dist/src/main.js')) throw new Error('These tests run the built program: npm run build');

/** Two nodes as processes, a runner of the SDK, and failures as they come. */
describe('A cluster', () => {
  let cluster: Cluster;
  let one: NodeProcess;
  let two: NodeProcess;
  let runners: Runner[];
  let agentToken: string;
  let steward: string;
  let platformToken: string;
  /** A run whose default runner is delivered its calls, and one whose runner claims them. */
  let served: Run;
  let claimed: Run;
  /** Ends the calls of the tool `hold` that are under way. */
  let release: () => void;
  let held: Promise<void>;
  let holding: (() => void) | undefined;
  const handled = new Map<string, number>();

  beforeAll(async () => {
    cluster = await Cluster.start();
    one = await cluster.startNode();
    two = await cluster.startNode();
    platformToken = await cluster.platformToken();
    const { humans } = await ask(one, 'GET', '/platform_api/v1/humans', platformToken);
    steward = humans[0].public_id as string;
    const { agent } = await ask(one, 'POST', '/platform_api/v1/agents', platformToken, {
      display_name: 'Agent',
      steward_public_id: steward,
      approval_floor: 'bypass',
    });
    const path = `/platform_api/v1/members/${agent.public_id}/credentials`;
    agentToken = (await ask(one, 'POST', path, platformToken, { name: 'test' })).secret as string;
    held = new Promise((resolve) => (release = resolve));
    runners = [];
    served = await runOf('served', 'serve');
    claimed = await runOf('claimed', 'claim');
  }, 90_000);

  afterAll(async () => {
    await Promise.all(runners?.map((runner) => runner.close()) ?? []);
    await cluster?.close();
  }, 30_000);

  async function register(name: string): Promise<Registration> {
    return (await ask(one, 'POST', '/platform_api/v1/executors', platformToken, {
      kind: 'runner',
      display_name: name,
      manager_public_id: steward,
      registration_identifier: name,
      assignment_scope: 'account_wide',
    })) as Registration;
  }

  async function newRun(runnerId: string): Promise<string> {
    const { run } = await ask(one, 'POST', '/agent_api/v1/runs', agentToken, {
      default_runner_executor_public_id: runnerId,
      configuration: { runner_executor_public_ids: [runnerId] },
    });
    return run.public_id as string;
  }

  /** A runner of the SDK, and a run that it is the default of. */
  async function runOf(name: string, delivery: 'serve' | 'claim'): Promise<Run> {
    const registration = await register(name);
    const runnerId = registration.executor.public_id;
    const runner = await connectRunner({ registration, delivery, readEveryMs: 1_000 });
    runners.push(runner);
    await runner.announce({ tools: [count, hold] });
    return { runnerId, runId: await newRun(runnerId) };
  }

  const count: ServedTool = {
    name: 'count',
    effect_profile: WRITE,
    description: 'Counts how often it is called with a mark',
    input_schema: { type: 'object' },
    handler: (input) => {
      const { mark } = input as { mark: string };
      handled.set(mark, (handled.get(mark) ?? 0) + 1);
      return Promise.resolve(mark);
    },
  };
  const hold: ServedTool = {
    name: 'hold',
    effect_profile: READ_ONLY,
    description: 'Answers when it is told to',
    input_schema: { type: 'object' },
    handler: async () => {
      holding?.();
      await held;
      return 'released';
    },
  };

  it.each(['claimed', 'served'] as const)(
    'a node killed between accept and commit loses no call that is %s: the runner commits by the verb',
    async (how) => {
      const { runId, runnerId } = how === 'served' ? served : claimed;
      const isHeld = new Promise<void>((resolve) => (holding = resolve));
      held = new Promise((resolve) => (release = resolve));
      const third = await cluster.startNode();
      await accept(third, runId, 'hold', 'held', {});
      await isHeld;
      await cluster.killNode(third);
      release();
      const task = await settled(two, runId, 'held');
      expect(task).toMatchObject({
        status: 'completed',
        content: 'released',
        claimed_by: { executor_public_id: runnerId },
      });
    },
    60_000,
  );

  it('a node killed between a delivery and its reply: nobody sends the call again, and it settles by the expiry rule', async () => {
    const registration = await register('stock');
    const { servers, credentials, subjects } = registration.bus;
    const connection = await connect({
      servers: [...servers],
      inboxPrefix: subjects.inbox_prefix,
      authenticator: authenticatorOf(readCreds(credentials as string)),
    });
    const heard: Msg[] = [];
    const first = new Promise<void>((resolve) => {
      connection.subscribe(`${subjects.tool}.slow`, {
        queue: 'q',
        callback: (_, message) => {
          heard.push(message);
          resolve();
        },
      });
    });
    await connection.flush();
    await ask(one, 'PUT', '/agent_api/v1/executor/announcement', registration.secret, {
      tools: [{ name: 'slow', effect_profile: WRITE, description: 'Slow', input_schema: { type: 'object' } }],
      delivery: 'serve',
    });
    const runId = await newRun(registration.executor.public_id);
    const third = await cluster.startNode();
    await accept(third, runId, 'slow', 'lost', {}, 8_000);
    await first;
    await cluster.killNode(third);
    heard[0]?.respond('to nobody');
    expect(await settled(two, runId, 'lost')).toMatchObject({
      status: 'uncertain',
      error: { key: 'tool_uncertain' },
    });
    expect(heard.length).toBe(1);
    await connection.close();
  }, 60_000);

  it('a runner that is stopped without a word settles at the deadline, and is answered its settled task afterwards', async () => {
    const registration = await register('stopped');
    const folder = await mkdtemp(join(tmpdir(), 'nexus-stopped-'));
    const file = join(folder, 'registration.json');
    await writeFile(file, JSON.stringify(registration), { mode: 0o600 });
    await mkdir(join(folder, 'root'));
    const place = ['--root', join(folder, 'root'), '--checkpoints', join(folder, 'checkpoints')];
    const child = spawn(
      process.execPath,
      ['dist/src/cli/main.js', 'runner', '--registration', file, '--allow-bash', ...place],
      { stdio: 'ignore' },
    );
    try {
      const { executor } = registration;
      const runId = await newRunOnceAnnounced(executor.public_id);
      const marker = join(folder, 'root', 'begun');
      await accept(one, runId, 'bash', 'stopped', { command: 'touch begun; sleep 1' }, 4_000);
      await until(() => Promise.resolve(existsSync(marker)));
      child.kill('SIGSTOP');
      const task = await settled(two, runId, 'stopped');
      expect(task).toMatchObject({ status: 'uncertain', error: { key: 'tool_uncertain' } });
      child.kill('SIGCONT');
      await accept(one, runId, 'ls', 'after', { path: '.' });
      expect(await settled(one, runId, 'after')).toMatchObject({ status: 'completed' });
      expect(await settled(one, runId, 'stopped')).toEqual(task);
    } finally {
      child.kill('SIGKILL');
      await rm(folder, { recursive: true, force: true });
    }
  }, 60_000);

  /** Until the runner has announced a run of it receives nothing. */
  async function newRunOnceAnnounced(runnerId: string): Promise<string> {
    let runId = '';
    await until(async () => {
      runId = await newRun(runnerId);
      const { run } = await ask(one, 'GET', `/agent_api/v1/runs/${runId}`, agentToken);
      return (run.tool_definitions as unknown[]).length > 0;
    });
    return runId;
  }

  it('a node told to stop answers what it has taken in, and takes in no more', async () => {
    const third = await cluster.startNode();
    const client = new pg.Client({ connectionString: cluster.databaseUrl });
    await client.connect();
    await client.query('begin');
    await client.query('select from runs where id = $1 for update', [served.runId]);
    const answer = request(third, 'POST', `/agent_api/v1/runs/${served.runId}/tasks`, agentToken, {
      steps: [{ call: { name: 'count', key: 'under-way', input: { mark: 'under-way' } } }],
    });
    await until(async () => {
      const { rows } = await client.query(`select from pg_locks where not granted`);
      return rows.length > 0;
    });
    third.child.kill('SIGTERM');
    await until(() =>
      fetch(`${third.url}/healthz`).then(
        () => false,
        () => true,
      ),
    );
    await client.query('commit');
    await client.end();
    expect((await answer).status).toBe(201);
    expect(await settled(two, served.runId, 'under-way')).toMatchObject({ status: 'completed' });
  }, 60_000);

  it('a restart of nats-server under load loses no call and settles none twice', async () => {
    const tasks = await underLoad('nats', claimed, () => cluster.restartNats());
    expect(tasks.filter(({ status }) => status !== 'completed')).toEqual([]);
  }, 90_000);

  it('a restart of nats-server under load: what was on its way to a runner that serves settles by the expiry rule', async () => {
    const tasks = await underLoad('nats-served', served, () => cluster.restartNats(), 6_000);
    const unsettled = tasks.filter(({ status }) => status !== 'completed');
    for (const task of unsettled) expect(task).toMatchObject({ status: 'uncertain' });
    expect(unsettled.length).toBeLessThan(tasks.length / 2);
  }, 90_000);

  it('a restart of PostgreSQL under load loses no call and settles none twice', async () => {
    const tasks = await underLoad('postgres', served, () => cluster.restartPostgres());
    expect(tasks.filter(({ status }) => status !== 'completed')).toEqual([]);
  }, 90_000);

  /** Calls from both nodes while `disturb` goes on, settled: none ran twice, and every completed one ran. */
  async function underLoad(
    mark: string,
    { runId }: Run,
    disturb: () => Promise<void>,
    timeout_ms?: number,
  ): Promise<Record<string, unknown>[]> {
    const accepted: string[] = [];
    let isDisturbed = true;
    const caller = async (lane: number): Promise<void> => {
      for (let index = 0; isDisturbed || index < 20; index += 1) {
        const key = `${mark}-${lane}-${index}`;
        // the key makes a repeat safe: a refusal as taken means that an earlier try was accepted
        await until(async () => {
          const answer = await request(
            lane % 2 === 0 ? one : two,
            'POST',
            `/agent_api/v1/runs/${runId}/tasks`,
            agentToken,
            {
              steps: [{ call: { name: 'count', key, input: { mark: key }, timeout_ms } }],
            },
          );
          return answer.status === 201 || answer.status === 409;
        });
        accepted.push(key);
      }
    };
    const callers = Promise.all(Array.from({ length: 6 }, (_, lane) => caller(lane)));
    await disturb();
    await Promise.all([one, two].map((node) => until(async () => (await fetch(`${node.url}/readyz`)).ok)));
    isDisturbed = false;
    await callers;

    const tasks = await Promise.all(accepted.map((key) => settled(two, runId, key)));
    const ran = tasks.map((task) => [task['status'], handled.get(task['task_key'] as string) ?? 0] as const);
    expect(ran.filter(([status, times]) => times > 1 || (status === 'completed' && times !== 1))).toEqual([]);
    const client = new pg.Client({ connectionString: cluster.databaseUrl });
    await client.connect();
    const { rows } = await client.query(`select count(*)::int as open from tasks where settled_at is null`);
    await client.end();
    expect(rows).toEqual([{ open: 0 }]);
    return tasks;
  }

  async function accept(
    node: NodeProcess,
    runId: string,
    name: string,
    key: string,
    input: object,
    timeout_ms?: number,
  ): Promise<void> {
    const body = { steps: [{ call: { name, key, input, timeout_ms } }] };
    await ask(node, 'POST', `/agent_api/v1/runs/${runId}/tasks`, agentToken, body);
  }

  /** The task once it is final. */
  async function settled(node: NodeProcess, runId: string, key: string): Promise<Record<string, unknown>> {
    let task: Record<string, unknown> = {};
    await until(async () => {
      ({ task } = await ask(
        node,
        'GET',
        `/agent_api/v1/runs/${runId}/tasks/${key}?wait_ms=20000`,
        agentToken,
      ));
      return task['settled_at'] !== undefined;
    });
    return task;
  }
});

interface Run {
  readonly runId: string;
  readonly runnerId: string;
}

async function ask(node: NodeProcess, method: string, path: string, token: string, body?: object) {
  const answer = await request(node, method, path, token, body);
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);

  return JSON.parse(text);
}

function request(
  node: NodeProcess,
  method: string,
  path: string,
  token: string,
  body?: object,
): Promise<Response> {
  return fetch(node.url + path, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}
