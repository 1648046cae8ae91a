import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connect, credsAuthenticator, type NatsConnection, type Service } from 'nats';
import { BusStrategy } from '../../src/bus/bus.strategy.js';
import { until } from '../support/cluster.js';
import type { HttpAnswer } from '../support/node.js';
import {
  firstAccount,
  newAgent,
  newExecutor,
  newRun,
  newRunner,
  ok,
  onBus,
  type TestAccount,
  type TestExecutor,
  type TestMember,
  tool,
} from '../support/factories.js';
import { TestNode } from '../support/node.js';
import { Example, examplePrograms } from './example.js';

const programs = await examplePrograms();

let node: TestNode;
let account: TestAccount;
let agent: TestMember;

beforeAll(async () => {
  node = await TestNode.start();
  account = await firstAccount(node);
  agent = await newAgent(node, account, { approval_floor: 'bypass' });
}, 60_000);
afterAll(() => node.close());

const anyIds = (): Promise<TestExecutor> => newRunner(node, account, { service_ids: 'any' });

async function instanceIdOf({ id }: TestExecutor): Promise<string | null | undefined> {
  const text = 'select instance_id from announcements where executor_id = $1';
  const { rows } = await node.db.pool.query<{ instance_id: string | null }>(text, [id]);
  return rows[0]?.instance_id;
}

/** An agent's call of `greet`, up to its end. */
async function greet(run: string, key: string, input: object): Promise<HttpAnswer['body']> {
  const path = `/agent_api/v1/runs/${run}/tasks`;
  const step = { call: { name: 'greet', key, input } };
  ok(await node.http('POST', path, { token: agent.token, body: { steps: [step] } }));
  const answer = ok(await node.http('GET', `${path}/${key}?wait_ms=10000`, { token: agent.token }));
  return answer.body.task;
}

describe('A stock micro service is a runner', () => {
  for (const [language, program] of programs)
    (program ? it : it.skip)(
      `in ${language}: it announces itself and serves an agent’s call`,
      async () => {
        if (!program) return;
        const executor = await anyIds();
        const example = await Example.start(program, executor);
        const run = await newRun(node, agent, executor);
        const text = `Hello, Ada, from ${language}`;
        expect(await greet(run, 'one', { name: 'Ada' })).toMatchObject({
          status: 'completed',
          content: text,
        });
        expect(await greet(run, 'two', {})).toMatchObject({
          status: 'completed',
          is_error: true,
          content: 'name must be a string',
        });
        const before = await instanceIdOf(executor);
        expect(before).toMatch(/^[A-Za-z0-9_-]{20,}$/);
        // nobody is there: the call waits for the next announcement
        await example.stop();
        const waiting = greet(run, 'three', { name: 'Grace' });
        const again = await Example.start(program, executor);
        expect(await waiting).toMatchObject({
          status: 'completed',
          content: `Hello, Grace, from ${language}`,
        });
        expect(await instanceIdOf(executor)).not.toBe(before);
        await again.stop();
      },
      60_000,
    );

  it('beside others: each is asked what is meant for it', async () => {
    const present = [...programs].flatMap(([language, program]) => (program ? [{ language, program }] : []));
    const executors = await Promise.all(present.map(() => anyIds()));
    const examples = await Promise.all(
      present.map(({ program }, index) => Example.start(program, executors[index] as TestExecutor)),
    );
    const answers = await Promise.all(
      executors.map(async (executor) => greet(await newRun(node, agent, executor), 'one', { name: 'Ada' })),
    );
    expect(answers.map(({ content }) => content as string)).toEqual(
      present.map(({ language }) => `Hello, Ada, from ${language}`),
    );
    await Promise.all(examples.map((example) => example.stop()));
  }, 60_000);
});

describe('An INFO document', () => {
  let executor: TestExecutor;
  let connection: NatsConnection;
  let service: Service;

  beforeAll(async () => {
    executor = await anyIds();
    const { servers, credentials, subjects } = executor.bus;
    connection = await connect({
      servers,
      authenticator: credsAuthenticator(new TextEncoder().encode(credentials ?? '')),
      inboxPrefix: subjects.inbox_prefix,
    });
    service = await connection.services.add({ name: 'tools', version: '1.0.0' });
    service.addEndpoint('wipe', {
      subject: `${subjects.tool}.wipe`,
      handler: (_, request) => request.respond('wiped'),
    });
    await connection.flush();
  });
  afterAll(() => connection.close());

  const info = (fields: object = {}): object => ({ ...service.info(), ...fields });
  const put = (body: object): Promise<HttpAnswer> =>
    node.http('PUT', '/agent_api/v1/executor/announcement', { token: executor.token, body });

  it('is taken on both doors alike, and binds its id until the next announcement', async () => {
    const client = await onBus(executor);
    const { body } = ok(await put({ tools: [] }));
    expect(await instanceIdOf(executor)).toBeNull();
    const onTheBus = await client.ask('announce', info());
    expect(Object.keys(onTheBus.body.executor)).toEqual(Object.keys(body.executor));
    expect(await instanceIdOf(executor)).toBe(service.info().id);
    ok(await put({ tools: [tool('wipe')] }));
    expect(await instanceIdOf(executor)).toBeNull();
    ok(await put(info()));
    expect(await instanceIdOf(executor)).toBe(service.info().id);
    await client.close();
  });

  it('whose endpoint says nothing of its effects has the worst profile, and no model sees it', async () => {
    const shown = async (): Promise<boolean> => {
      const body = {
        default_runner_executor_public_id: executor.id,
        configuration: { runner_executor_public_ids: [executor.id] },
      };
      const path = '/agent_api/v1/tools/assembly';
      return ok(await node.http('POST', path, { token: agent.token, body })).text.includes('wipe');
    };
    ok(await put({ tools: [tool('wipe')] }));
    expect(await shown()).toBe(true);
    ok(await put(info()));
    expect(await shown()).toBe(false);
    const text = 'select tools from announcements where executor_id = $1';
    const { rows } = await node.db.pool.query<{ tools: { effect_profile: object }[] }>(text, [executor.id]);
    expect(rows[0]?.tools[0]?.effect_profile).toEqual({
      kind: 'write',
      destructive: true,
      effect_scope: 'open',
      idempotency: 'none',
      reconciliation: 'none',
    });
  });

  it('with a fault is refused alike on both doors, with its own path, and changes nothing', async () => {
    ok(await put(info()));
    const [endpoint] = service.info().endpoints;
    const faulty = info({ endpoints: [endpoint, { ...endpoint, subject: 'elsewhere' }] });
    const client = await onBus(executor);
    const [rest, bus] = [await put(faulty), await client.ask('announce', faulty)];
    expect(rest.body.error).toMatchObject({
      code: 'invalid_announcement',
      message: `endpoints[1].subject must be one token under ${executor.subjects.tool}`,
      details: [{ path: 'endpoints[1].subject' }],
    });
    expect([rest.status, bus.status]).toEqual([422, 422]);
    expect({ ...bus.body.error, request_id: '' }).toEqual({ ...rest.body.error, request_id: '' });
    expect(await instanceIdOf(executor)).toBe(service.info().id);
    await client.close();
  });

  it('of a pool’s member is refused: pools are always claim', async () => {
    const provider = await newExecutor(node, account, {
      kind: 'tool_provider',
      display_name: 'Provider',
      manager_public_id: account.adminId,
      registration_identifier: 'provider',
      assignment_scope: 'account_wide',
      modules: ['pool'],
    });
    const body = info({ endpoints: [] });
    const path = '/agent_api/v1/executor/announcement';
    const answer = await node.http('PUT', path, { token: provider.token, body });
    expect(answer.body.error).toMatchObject({
      code: 'invalid_announcement',
      message: 'delivery must be claim for a tool_provider',
    });
  });

  it('that arrives as an answer to somebody else is no announcement', async () => {
    ok(await put({ tools: [] }));
    const member = await onBus(agent);
    const strategy = node.app.get(BusStrategy);
    const before = strategy.droppedRequests;
    // the service answers where it is told to, in its own name
    member.connection.publish(`$SRV.INFO.tools`, '', { reply: `${executor.subjects.executor}.announce` });
    await until(() => Promise.resolve(strategy.droppedRequests > before));
    expect(await instanceIdOf(executor)).toBeNull();
    await member.close();
  });
});
