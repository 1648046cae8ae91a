import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { connectRunner, type Registration, type Runner } from '../../src/runner/sdk/index.js';
import { Cluster, type NodeProcess, until } from '../support/cluster.js';
import { READ_ONLY, WRITE } from '../support/factories.js';

if (!existsSync('dist/src/main.js')) throw new Error('These tests run the built program: npm run build');

/** Two nodes as processes, a runner of the SDK, and failures as they come. */
describe('A cluster', () => {
  let cluster: Cluster;
  let one: NodeProcess;
  let two: NodeProcess;
  let runner: Runner;
  let agentToken: string;
  let runnerId: string;
  let runId: string;
  /** Ends the calls of the tool `hold` that are under way. */
  let release: () => void;
  let held: Promise<void>;
  let holding: (() => void) | undefined;
  const handled = new Map<string, number>();

  beforeAll(async () => {
    cluster = await Cluster.start();
    one = await cluster.startNode();
    two = await cluster.startNode();
    const token = await cluster.platformToken();
    const { humans } = await ask(one, 'GET', '/platform_api/v1/humans', token);
    const steward = humans[0].public_id as string;
    const { agent } = await ask(one, 'POST', '/platform_api/v1/agents', token, {
      display_name: 'Agent',
      steward_public_id: steward,
      approval_floor: 'bypass',
    });
    const path = `/platform_api/v1/members/${agent.public_id}/credentials`;
    agentToken = (await ask(one, 'POST', path, token, { name: 'test' })).secret as string;
    const registration = (await ask(one, 'POST', '/platform_api/v1/executors', token, {
      kind: 'runner',
      display_name: 'Runner',
      manager_public_id: steward,
      registration_identifier: 'runner',
      assignment_scope: 'account_wide',
    })) as Registration;
    runnerId = registration.executor.public_id;
    held = new Promise((resolve) => (release = resolve));
    runner = await connectRunner({ registration, readEveryMs: 1_000 });
    await runner.announce({
      tools: [
        {
          name: 'count',
          effect_profile: WRITE,
          description: 'Counts how often it is called with a mark',
          input_schema: { type: 'object' },
          handler: (input) => {
            const { mark } = input as { mark: string };
            handled.set(mark, (handled.get(mark) ?? 0) + 1);
            return Promise.resolve(mark);
          },
        },
        {
          name: 'hold',
          effect_profile: READ_ONLY,
          description: 'Answers when it is told to',
          input_schema: { type: 'object' },
          handler: async () => {
            holding?.();
            await held;
            return 'released';
          },
        },
      ],
    });
    const { run } = await ask(one, 'POST', '/agent_api/v1/runs', agentToken, {
      default_runner_executor_public_id: runnerId,
      configuration: { runner_executor_public_ids: [runnerId] },
    });
    runId = run.public_id as string;
  }, 90_000);

  afterAll(async () => {
    await runner?.close();
    await cluster?.close();
  }, 30_000);

  it('a node killed between accept and commit loses no call', async () => {
    const claimed = new Promise<void>((resolve) => (holding = resolve));
    const third = await cluster.startNode();
    await accept(third, 'hold', 'held', {});
    await claimed;
    await cluster.killNode(third);
    release();
    const task = await settled(two, 'held');
    expect(task).toMatchObject({
      status: 'completed',
      content: 'released',
      claimed_by: { executor_public_id: runnerId },
    });
  }, 60_000);

  it('a node told to stop answers what it has taken in, and takes in no more', async () => {
    const third = await cluster.startNode();
    const client = new pg.Client({ connectionString: cluster.databaseUrl });
    await client.connect();
    await client.query('begin');
    await client.query('select from runs where id = $1 for update', [runId]);
    const answer = request(third, 'POST', `/agent_api/v1/runs/${runId}/tasks`, agentToken, {
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
    expect(await settled(two, 'under-way')).toMatchObject({ status: 'completed' });
  }, 60_000);

  it('a restart of nats-server under load loses no call and settles none twice', async () => {
    await underLoad('nats', () => cluster.restartNats());
  }, 90_000);

  it('a restart of PostgreSQL under load loses no call and settles none twice', async () => {
    await underLoad('postgres', () => cluster.restartPostgres());
  }, 90_000);

  /** Calls from both nodes while `disturb` goes on; every accepted call must have run once and be completed. */
  async function underLoad(mark: string, disturb: () => Promise<void>): Promise<void> {
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
              steps: [{ call: { name: 'count', key, input: { mark: key } } }],
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

    const tasks = await Promise.all(accepted.map((key) => settled(two, key)));
    expect(tasks.filter(({ status }) => status !== 'completed')).toEqual([]);
    expect(accepted.filter((key) => handled.get(key) !== 1)).toEqual([]);
    const client = new pg.Client({ connectionString: cluster.databaseUrl });
    await client.connect();
    const { rows } = await client.query(`select count(*)::int as open from tasks where settled_at is null`);
    await client.end();
    expect(rows).toEqual([{ open: 0 }]);
  }

  async function accept(node: NodeProcess, name: string, key: string, input: object): Promise<void> {
    const body = { steps: [{ call: { name, key, input } }] };
    await ask(node, 'POST', `/agent_api/v1/runs/${runId}/tasks`, agentToken, body);
  }

  /** The task once it is final. */
  async function settled(node: NodeProcess, key: string): Promise<Record<string, unknown>> {
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
