import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connect, headers, type NatsConnection, type Subscription } from 'nats';
import { NodeEvents } from '../../src/bus/node-events.js';
import { declaredVerbs } from '../../src/doors/verb.js';
import type { BusClient } from '../support/bus-client.js';
import { until } from '../support/cluster.js';
import { SERVERS } from '../support/database.js';
import {
  announce,
  firstAccount,
  newAgent,
  newHuman,
  newRun,
  newRunner,
  ok,
  onBus,
  type TestAccount,
  type TestExecutor,
  tool,
} from '../support/factories.js';
import { TestNode } from '../support/node.js';
import { callStep } from '../routing/stage.js';
import { parked, taskNow } from '../work/stage.js';

const ANNOUNCEMENT = '/agent_api/v1/executor/announcement';

let node: TestNode;
let account: TestAccount;
let runner: TestExecutor;
let bus: BusClient;

beforeAll(async () => {
  node = await TestNode.start({ NEXUS_BUS_AUTH: 'token', NATS_URL: SERVERS.openNats });
  account = await firstAccount(node);
  runner = await newRunner(node, account);
  bus = await onBus(runner);
});
afterAll(async () => {
  await bus.close();
  await node.close();
});

describe('Against a NATS that Nexus does not manage', () => {
  it('registrations and credentials say credentials null', async () => {
    expect(runner.bus).toMatchObject({ servers: [SERVERS.openNats], credentials: null });
    expect((await newHuman(node, account)).bus.credentials).toBeNull();
  });

  it.each(declaredVerbs().filter((verb) => verb.bus === 'executor'))(
    'without a good token $name is unauthorized',
    async ({ name }) => {
      for (const token of [undefined, 'nxe_none', account.platformToken]) {
        const answer = await bus.ask(name, {}, token === undefined ? { anonymous: true } : { token });
        expect(answer).toMatchObject({
          status: 401,
          code: 'unauthorized',
          body: { error: { code: 'unauthorized' } },
        });
      }
    },
  );

  it('the subject must name the token’s own executor and epoch', async () => {
    const other = await newRunner(node, account);
    const agent = await newAgent(node, account);
    for (const { token } of [other, agent]) {
      expect(await bus.ask('describe', {}, { token })).toMatchObject({ status: 401, code: 'unauthorized' });
    }
    expect((await bus.ask('describe')).status).toBe(200);
  });

  it('a re-pair fences every older token, and the new one on the older subject', async () => {
    const fields = { registration_identifier: 'paired twice' };
    const first = await newRunner(node, account, fields);
    const older = await onBus(first);
    expect((await older.ask('describe')).status).toBe(200);
    const second = await newRunner(node, account, fields);
    expect((await older.ask('describe')).code).toBe('unauthorized');
    expect((await older.ask('describe', {}, { token: second.token })).code).toBe('unauthorized');
    const newer = await onBus(second);
    expect((await newer.ask('describe')).status).toBe(200);
    await Promise.all([older.close(), newer.close()]);
  });

  it('revoking an executor fences its token', async () => {
    const revoked = await newRunner(node, account);
    const client = await onBus(revoked);
    const path = `/platform_api/v1/executors/${revoked.id}/revoke`;
    await node.http('POST', path, { token: account.platformToken });
    expect((await client.ask('describe')).code).toBe('unauthorized');
    await client.close();
  });

  it('a call that waits when its credential is deleted is answered unauthorized', async () => {
    const agent = await newAgent(node, account);
    await announce(node, runner, [tool('read')]);
    const run_public_id = await newRun(node, agent, runner);
    const client = await onBus(agent);
    const step = { call: { name: 'read', key: 'a', input: {} } };
    const calling = client.ask('call', { run_public_id, step, wait_ms: 1_000 });
    await until(async () => {
      const { rowCount } = await node.db.pool.query('select from tasks where run_id = $1', [run_public_id]);
      return rowCount === 1;
    });
    const path = `/platform_api/v1/credentials/${agent.credentialId}`;
    ok(await node.http('DELETE', path, { token: account.platformToken }));
    expect(await calling).toMatchObject({ status: 401, code: 'unauthorized' });
    await client.close();
  });

  it('a request whose reply subject is not the speaker’s inbox has no effect', async () => {
    const stranger: NatsConnection = await connect({ servers: SERVERS.openNats });
    const heard = stranger.subscribe('elsewhere');
    const head = headers();
    head.set('Authorization', `Bearer ${runner.token}`);
    stranger.publish(`${runner.subjects.executor}.announce`, JSON.stringify({ tools: [tool('smuggled')] }), {
      reply: 'elsewhere',
      headers: head,
    });
    await stranger.flush();
    // the node has worked off what came before this request
    await bus.ask('describe');
    await stranger.flush();
    expect(heard.getReceived()).toBe(0);
    expect((await bus.ask('describe')).text).not.toContain('smuggled');
    await stranger.close();
  });

  it.each(['runner', 'tool_provider'])('delivery serve of a %s is refused', async (kind) => {
    const other = await newRunner(node, account, { kind });
    const client = await onBus(other);
    const body = { tools: [tool('bash')], delivery: 'serve' };
    const answers = [
      await node.http('PUT', ANNOUNCEMENT, { token: other.token, body }),
      await client.ask('announce', body),
    ];
    await client.close();
    for (const answer of answers) {
      expect(answer.status).toBe(422);
      expect(answer.body.error).toMatchObject({
        code: 'invalid_announcement',
        message: expect.stringMatching(/^delivery must be claim /),
      });
    }
  });

  it('nobody is delivered to who announced serve while Nexus managed the bus', async () => {
    const other = await newRunner(node, account);
    await announce(node, other, [tool('read')]);
    await node.db.pool.query(
      `update announcements set delivery = 'serve', version = version + 1 where executor_id = $1`,
      [other.id],
    );
    node.app.get(NodeEvents).publish('executor', { id: other.id });
    const agent = await newAgent(node, account, { approval_floor: 'bypass' });
    const client = await onBus(other);
    const [work, calls] = [other.subjects.work, `${other.subjects.tool}.>`].map((subject) =>
      client.connection.subscribe(subject, { max: 1 }),
    ) as [Subscription, Subscription];
    await client.connection.flush();
    const task = await parked(node, agent, await newRun(node, agent, other), callStep('read'));
    for await (const push of work) expect(push.json()).toMatchObject({ event: 'work_available', ...task });
    expect(calls.getReceived()).toBe(0);
    expect(await taskNow(node, agent, task)).not.toHaveProperty('claimed_by');
    await client.close();
  });
});
