import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { headers } from 'nats';
import { secondAccount } from '../discovery/second-account.js';
import {
  announce,
  firstAccount,
  newExecutor,
  newHuman,
  newRunner,
  ok,
  onBus,
  type TestAccount,
  type TestExecutor,
  tool,
} from '../support/factories.js';
import { TestNode } from '../support/node.js';
import {
  type Answerer,
  answerAs,
  answering,
  answerWith,
  infoText,
  meshOf,
  missed,
  reasonsOf,
  serviceOf,
} from './stage.js';

let node: TestNode;
let account: TestAccount;
const answerers: Answerer[] = [];

/** Answers until the end of the test. */
const answers = async (...services: Parameters<typeof answerAs>): Promise<Answerer> => {
  const answerer = await answerAs(...services);
  answerers.push(answerer);
  return answerer;
};
const answersWith = async (...how: Parameters<typeof answerWith>): Promise<Answerer> => {
  const answerer = await answerWith(...how);
  answerers.push(answerer);
  return answerer;
};

/** A runner that announced `ls`, of delivery `serve`. */
const runner = async (fields: object = {}): Promise<TestExecutor> => {
  const executor = await newRunner(node, account, fields);
  await announce(node, executor, [tool('ls')], { delivery: 'serve' });
  return executor;
};

const revoke = async ({ id }: TestExecutor, of = account): Promise<void> => {
  ok(await node.http('POST', `/platform_api/v1/executors/${id}/revoke`, { token: of.platformToken }));
};

beforeAll(async () => {
  node = await TestNode.start();
  account = await firstAccount(node);
});

afterEach(async () => {
  for (const answerer of answerers.splice(0)) await answerer.stop();
});

afterAll(async () => {
  await node.close();
});

describe('GET /platform_api/v1/mesh', () => {
  it('shows what answers on each machine, and what should and does not', async () => {
    const [here, gone] = [await runner({ machine: 'here' }), await runner({ machine: 'gone' })];
    await answers(here, serviceOf(here, ['ls']));
    const mesh = await meshOf(node, account);
    expect(mesh).toEqual({
      asked_at: expect.stringMatching(/^\d{4}-.*Z$/),
      gathered_ms: expect.any(Number),
      machines: expect.anything(),
      not_answering: expect.anything(),
      unexpected: [],
      malformed: 0,
    });
    expect(mesh.gathered_ms).toBeGreaterThanOrEqual(250);
    expect(mesh.machines.find(({ machine }) => machine === 'here')).toEqual({
      machine: 'here',
      services: [
        {
          name: 'tools',
          id: here.id,
          version: '1.0.0',
          executor_public_id: here.id,
          endpoints: [
            {
              name: 'ls',
              subject: `${here.subjects.tool}.ls`,
              queue_group: 'q',
              description: 'The tool ls',
            },
          ],
          state: 'answering',
        },
      ],
    });
    expect(mesh.not_answering.find(({ machine }) => machine === 'gone')).toEqual({
      module: 'tools',
      machine: 'gone',
      executor_public_id: gone.id,
      last_seen_at: expect.stringMatching(/^\d{4}-/),
    });
    expect(mesh.machines.some(({ machine }) => machine === 'said-by-itself')).toBe(false);
  });

  it('shows every seat of Nexus, where its nodes run', async () => {
    const { machines } = await meshOf(node, account);
    const seats = machines.filter(({ machine }) => machine.startsWith('nexus-'));
    expect(seats).toHaveLength(1);
    expect(seats[0]?.services.map(({ name }) => name)).toEqual([
      'nexus-console',
      'nexus-controller',
      'nexus-executor',
    ]);
    const endpoints = seats[0]?.services.map((one) => one.endpoints.map(({ name }) => name).sort());
    expect(endpoints?.[0]).toEqual(['call', 'describe', 'machines', 'services', 'tools']);
    expect(endpoints?.[1]).toEqual(['assignments', 'machines', 'modules']);
  });

  it('misses an assignment for each of its modules, and only of those that declare tools', async () => {
    const executor = await newRunner(node, account, {
      modules: ['first', 'second', 'quiet'],
      machine: 'three',
    });
    const tools = ['first', 'second'].map((module) => tool(`in_${module}`, { module }));
    await announce(node, executor, tools, { delivery: 'serve' });
    const missedOf = async (): Promise<string[]> =>
      (await meshOf(node, account)).not_answering
        .filter(({ executor_public_id }) => executor_public_id === executor.id)
        .map(({ module }) => module);
    expect(await missedOf()).toEqual(['first', 'quiet', 'second']);
    const change = { token: account.platformToken, body: { declares_tools: false } };
    ok(await node.http('PATCH', '/platform_api/v1/modules/quiet', change));
    expect(await missedOf()).toEqual(['first', 'second']);
    await answers(executor, serviceOf(executor, ['in_first'], { name: 'first' }));
    expect(await missedOf()).toEqual(['second']);
    await revoke(executor);
    expect(await missedOf()).toEqual([]);
  });

  it('holds each of several services of one executor against its own module', async () => {
    const executor = await newRunner(node, account, { modules: ['left', 'right'] });
    const tools = [tool('in_left'), tool('in_right', { module: 'right' })];
    await announce(node, executor, tools, { delivery: 'serve' });
    const both = await answerAs(
      executor,
      serviceOf(executor, ['in_left'], { name: 'left' }),
      serviceOf(executor, ['in_right'], { name: 'right' }),
    );
    const mesh = await meshOf(node, account);
    expect(reasonsOf(mesh, executor.id)).toEqual([]);
    expect(answering(mesh).filter((id) => id === executor.id)).toHaveLength(2);
    await both.stop();
    await answers(executor, serviceOf(executor, ['in_left', 'in_right'], { name: 'left' }));
    expect(reasonsOf(await meshOf(node, account), executor.id)).toEqual([
      'it serves what it did not announce: in_right',
    ]);
  });

  it('asks whoever did not answer everybody once more, directly', async () => {
    const executor = await runner();
    const { connection } = await onBus(executor);
    const reply = infoText(serviceOf(executor, ['ls']));
    connection.subscribe(`$SRV.INFO.tools.${executor.id}`, {
      callback: (_, message) => message.respond(reply),
    });
    await connection.flush();
    const mesh = await meshOf(node, account);
    await connection.close();
    expect(answering(mesh)).toContain(executor.id);
    expect(missed(mesh)).not.toContain(executor.id);
  });

  it('names a process that listens and is silent, and waits no longer for it than for a second', async () => {
    const executor = await runner();
    const { connection } = await onBus(executor);
    connection.subscribe(`$SRV.INFO.tools.${executor.id}`, { callback: () => undefined });
    await connection.flush();
    const mesh = await meshOf(node, account);
    await connection.close();
    expect(missed(mesh)).toContain(executor.id);
    expect(mesh.gathered_ms).toBeGreaterThanOrEqual(1_000);
    expect(mesh.gathered_ms).toBeLessThan(4_000);
  });

  it('is asked of the bus once for all who ask at a time', async () => {
    const executor = await runner();
    let asked = 0;
    const { connection } = await onBus(executor);
    connection.subscribe('$SRV.INFO', { callback: () => (asked += 1) });
    await connection.flush();
    const meshes = await Promise.all(Array.from({ length: 10 }, () => meshOf(node, account)));
    expect(new Set(meshes.map((mesh) => mesh.asked_at)).size).toBe(1);
    expect(asked).toBe(1);
    await meshOf(node, account);
    expect(asked).toBe(2);
    await connection.close();
  });
});

describe('Anyone may lie about who it is', () => {
  it('a stranger who answers under another executor’s id is unexpected, and makes nobody answer', async () => {
    const [victim, liar] = [await runner(), await runner()];
    await answersWith(liar, (reply) => reply(infoText(serviceOf(victim, ['ls']))));
    const mesh = await meshOf(node, account);
    expect(answering(mesh)).not.toContain(victim.id);
    expect(missed(mesh)).toEqual(expect.arrayContaining([victim.id, liar.id]));
    expect(reasonsOf(mesh, victim.id)).toEqual(['its executor does not answer so when it is asked directly']);
  });

  it('and hides nobody: what the executor says itself is what counts', async () => {
    const [victim, liar] = [await runner({ machine: 'victim' }), await runner()];
    await answers(victim, serviceOf(victim, ['ls']));
    const lie = serviceOf(victim, ['ls'], { version: '6.6.6' });
    await answersWith(liar, (reply) => reply(infoText(lie)));
    const mesh = await meshOf(node, account);
    const [service] = mesh.machines.find(({ machine }) => machine === 'victim')?.services ?? [];
    expect(service).toMatchObject({ version: '1.0.0', executor_public_id: victim.id });
    expect(missed(mesh)).not.toContain(victim.id);
    expect(mesh.unexpected.map(({ service: { id, version } }) => [id, version])).toEqual([
      [victim.id, '6.6.6'],
    ]);
  });

  it('a runner that says it is a seat of Nexus is unexpected', async () => {
    const liar = await runner();
    const lie = serviceOf(liar, ['ls'], { name: 'nexus-controller', id: 'someone' });
    await answersWith(liar, (reply) => reply(infoText(lie)));
    const mesh = await meshOf(node, account);
    expect(reasonsOf(mesh, 'someone')).toEqual(['no node of Nexus answers so when it is asked directly']);
    expect(mesh.machines.flatMap(({ services }) => services.map(({ id }) => id))).not.toContain('someone');
  });

  it('the server lets no runner listen where another is asked directly', async () => {
    const [victim, liar] = [await runner(), await runner()];
    const { connection } = await onBus(liar);
    const refused = new Promise<Error | null>((resolve) => {
      connection.subscribe(`$SRV.INFO.tools.${victim.id}`, { callback: resolve });
    });
    expect(await refused).toMatchObject({ code: 'PERMISSIONS_VIOLATION' });
    await connection.close();
  });

  it('garbage is counted and hides nobody', async () => {
    const honest = await runner();
    await answers(honest, serviceOf(honest, ['ls']));
    const failed = headers();
    failed.set('Nats-Service-Error', 'MAX_PAYLOAD_EXCEEDED');
    const notNow = headers(503, 'No Responders');
    const garbage: [string | Uint8Array, object?][] = [
      [''],
      ['{'],
      ['null'],
      ['[]'],
      ['{"type":"io.nats.micro.v1.info_response"}'],
      [infoText(serviceOf(honest, ['ls'], { id: '>' }))],
      [infoText(serviceOf(honest, ['ls'])), failed],
      ['', notNow],
      [Buffer.from([0xff, 0xfe])],
      ['x'.repeat(1_024 * 1_024)],
      [`${'['.repeat(500_000)}`],
    ];
    for (const [payload, head] of garbage) {
      const broken = await runner();
      await answersWith(broken, (reply) => reply(payload, head));
    }
    const mesh = await meshOf(node, account);
    expect(mesh.malformed).toBe(garbage.length);
    expect(answering(mesh)).toContain(honest.id);
  });

  it('an answer of a megabyte is read as any other', async () => {
    const large = await newRunner(node, account);
    const names = Array.from({ length: 200 }, (_, index) => `tool_${index}`);
    await announce(
      node,
      large,
      names.map((name) => tool(name)),
      { delivery: 'serve' },
    );
    const service = serviceOf(large, names);
    const endpoints = service.endpoints.map((endpoint) => ({
      ...endpoint,
      metadata: { ...endpoint.metadata, input_schema: JSON.stringify({ description: 'x'.repeat(5_000) }) },
    }));
    expect(infoText({ ...service, endpoints }).length).toBeGreaterThan(1_000_000);
    await answers(large, { ...service, endpoints });
    const mesh = await meshOf(node, account);
    expect(answering(mesh)).toContain(large.id);
    expect(mesh).toMatchObject({ malformed: 0 });
    expect(reasonsOf(mesh, large.id)).toEqual([]);
  });
});

describe('What is unexpected', () => {
  it('serves outside its own subjects', async () => {
    const [own, other] = [await runner({ machine: 'outside' }), await runner()];
    const outside = { name: 'ls', subject: `${other.subjects.tool}.ls`, queue_group: 'q', metadata: {} };
    const service = serviceOf(own, ['ls']);
    await answers(own, { ...service, endpoints: [...service.endpoints, outside] });
    const mesh = await meshOf(node, account);
    expect(reasonsOf(mesh, own.id)).toEqual([`it serves outside its own subjects: ${outside.subject}`]);
    const [shown] = mesh.machines.find(({ machine }) => machine === 'outside')?.services ?? [];
    expect(shown?.endpoints.map(({ subject }) => subject)).toEqual([`${own.subjects.tool}.ls`]);
  });

  it('serves other tools than it announced, until it announces them', async () => {
    const executor = await runner();
    await answers(executor, serviceOf(executor, ['ls', 'rm']));
    expect(reasonsOf(await meshOf(node, account), executor.id)).toEqual([
      'it serves what it did not announce: rm',
    ]);
    await announce(node, executor, [tool('ls'), tool('rm')], { delivery: 'serve' });
    expect(reasonsOf(await meshOf(node, account), executor.id)).toEqual([]);
    await announce(node, executor, [tool('ls'), tool('rm'), tool('mv')], { delivery: 'serve' });
    expect(reasonsOf(await meshOf(node, account), executor.id)).toEqual([
      'it does not serve what it announced: mv',
    ]);
  });

  it('answers at an epoch that has passed', async () => {
    const fields = { registration_identifier: 'paired-twice' };
    const old = await runner(fields);
    const service = serviceOf(old, ['ls']);
    const again = await newRunner(node, account, fields);
    expect(again).toMatchObject({ id: old.id, epoch: old.epoch + 1 });
    await answers(again, service);
    expect(reasonsOf(await meshOf(node, account), old.id)).toEqual([
      `it serves outside its own subjects: ${old.subjects.tool}.ls; it does not serve what it announced: ls`,
    ]);
  });

  it('has an id without a record', async () => {
    const executor = await newRunner(node, account, { service_ids: 'any', modules: ['minted'] });
    await answers(executor, serviceOf(executor, [], { name: 'minted', id: 'minted-by-a-library' }));
    const mesh = await meshOf(node, account);
    expect(reasonsOf(mesh, 'minted-by-a-library')).toEqual(['there is no record of it']);
    expect(missed(mesh)).toContain(executor.id);
  });
});

describe('In a module of which an executor may have any id', () => {
  /** Binds an instance id as an INFO document that is announced does. */
  const bind = async ({ id }: TestExecutor, instanceId: string): Promise<void> => {
    await node.db.pool.query('update announcements set instance_id = $2 where executor_id = $1', [
      id,
      instanceId,
    ]);
  };

  it('only the id counts that its own announcement bound', async () => {
    const stock = await newRunner(node, account, { service_ids: 'any', modules: ['stock'] });
    await announce(node, stock, [tool('ls')], { delivery: 'serve' });
    await answers(stock, serviceOf(stock, ['ls'], { name: 'stock', id: 'MINTED' }));
    expect(answering(await meshOf(node, account))).not.toContain(stock.id);
    await bind(stock, 'MINTED');
    const bound = await meshOf(node, account);
    expect(answering(bound)).toContain(stock.id);
    expect(reasonsOf(bound, 'MINTED')).toEqual([]);
  });

  it('a directed ask proves nothing, of nobody there', async () => {
    const [pinned, other] = [
      await runner({ modules: ['mixed'] }),
      await newRunner(node, account, { modules: ['mixed'], service_ids: 'any' }),
    ];
    await answers(pinned, serviceOf(pinned, ['ls'], { name: 'mixed' }));
    const mesh = await meshOf(node, account);
    expect(missed(mesh)).toEqual(expect.arrayContaining([pinned.id, other.id]));
    expect(reasonsOf(mesh, pinned.id)).toEqual([
      'its id was not announced, and in its module ids are not pinned',
    ]);
  });
});

describe('Tenants', () => {
  it('see nothing of each other', async () => {
    const second = await secondAccount(node);
    const mine = await runner();
    const name = { registration_identifier: 'theirs', display_name: 'theirs', machine: 'theirs' };
    const theirs = await newExecutor(node, second, {
      kind: 'runner',
      manager_public_id: second.adminId,
      assignment_scope: 'account_wide',
      ...name,
    });
    await announce(node, theirs, [tool('secret_tool')], { delivery: 'serve' });
    await answers(mine, serviceOf(mine, ['ls']));
    await answers(theirs, serviceOf(theirs, ['secret_tool']));
    const [ours, others] = [await meshOf(node, account), await meshOf(node, second)];
    expect(JSON.stringify(ours)).not.toContain(theirs.id);
    expect(answering(ours)).toContain(mine.id);
    expect(answering(others)).toEqual([theirs.id]);
    expect(others.unexpected).toEqual([]);
    expect(JSON.stringify(others)).not.toContain(mine.id);
  });

  it('is for administrators alone', async () => {
    const human = await newHuman(node, account);
    const { status } = await node.http('GET', '/platform_api/v1/mesh', { token: human.token });
    expect(status).toBe(401);
  });
});
