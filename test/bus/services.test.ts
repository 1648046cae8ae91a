import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Msg, RequestStrategy, type ServiceInfo } from 'nats';
import { BusConnections } from '../../src/bus/bus-connections.js';
import type { AccountId } from '../../src/db/account-id.js';
import {
  type Announcement,
  connectRunner,
  type Runner,
  type ServedTool,
} from '../../src/runner/sdk/index.js';
import { answerFaults } from '../interop/answer-schemas.js';
import { GoReader } from '../interop/go-reader.js';
import type { BusClient } from '../support/bus-client.js';
import { until } from '../support/cluster.js';
import {
  firstAccount,
  newAgent,
  newRun,
  newRunner,
  ok,
  onBus,
  READ_ONLY,
  type TestAccount,
  type TestExecutor,
  type TestMember,
} from '../support/factories.js';
import { TestNode } from '../support/node.js';

type Verb = 'PING' | 'INFO' | 'STATS';

const goReader = await GoReader.build();

let node: TestNode;
let account: TestAccount;
let agent: TestMember;
/** A member on the bus: whoever may ask. */
let member: BusClient;
let executor: TestExecutor;
let runner: Runner;
const logged: string[] = [];

const served = (name: string, fields: Partial<ServedTool> = {}): ServedTool => ({
  name,
  effect_profile: READ_ONLY,
  description: `The tool ${name}`,
  input_schema: { type: 'object' },
  handler: () => name,
  ...fields,
});
const TOOLS = [
  served('look', { timeout_ms: 5_000 }),
  served('fail', { handler: () => Promise.reject(new Error('secret of the tool')) }),
  served('search', { module: 'files' }),
];

async function running({ registration }: TestExecutor, announcement: Announcement): Promise<Runner> {
  const made = await connectRunner({
    registration,
    beatEveryMs: 200,
    log: (_, message) => logged.push(message),
  });
  await made.announce(announcement);
  return made;
}

beforeAll(async () => {
  node = await TestNode.start();
  account = await firstAccount(node);
  agent = await newAgent(node, account, { approval_floor: 'bypass' });
  member = await onBus(agent);
  executor = await newRunner(node, account, { modules: ['tools', 'files'], machine: 'build-box' });
  runner = await running(executor, { tools: TOOLS });
}, 60_000);
afterAll(async () => {
  await runner.close();
  await member.close();
  await node.close();
});

/** Every answer to one request, by the quiet that follows. */
async function gather(verb: Verb, target = ''): Promise<Msg[]> {
  const answers: Msg[] = [];
  const plan = { strategy: RequestStrategy.JitterTimer, maxWait: 2_000, jitter: 300 };
  for await (const answer of await member.connection.requestMany(`$SRV.${verb}${target}`, '', plan))
    answers.push(answer);
  return answers;
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- a test reads what it expects, and fails where it is not
const infoOf = async (module: string, id = executor.id): Promise<any> =>
  (await member.connection.request(`$SRV.INFO.${module}.${id}`)).json();
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- as above
const statsOf = async (name: string, endpoint: string): Promise<any> => {
  const [answer] = await gather('STATS', `.${name}`);
  const { endpoints } = answer?.json() as { endpoints: { name: string }[] };
  return endpoints.find(({ name: found }) => found === endpoint);
};

describe('Everything that serves', () => {
  it.each<Verb>(['PING', 'INFO', 'STATS'])('answers %s as the strictest reader wants it', async (verb) => {
    const answers = await gather(verb);
    const names = answers.map((answer) => answer.json<ServiceInfo>().name);
    expect(names).toEqual(expect.arrayContaining(['files', 'nexus-executor', 'tools']));
    for (const answer of answers) {
      expect(answerFaults(verb, answer.json())).toEqual([]);
      expect(answer.headers?.get('Nats-Service-Error') ?? '').toBe('');
    }
  });

  it('is read by the services client of the `nats` package', async () => {
    const client = member.connection.services.client();
    const all = async <Answer>(answers: Promise<AsyncIterable<Answer>>): Promise<Answer[]> => {
      const found: Answer[] = [];
      for await (const answer of await answers) found.push(answer);
      return found;
    };
    const own = { name: 'files', id: executor.id };
    expect(await all(client.ping('files'))).toMatchObject([own]);
    expect(await all(client.info('files', executor.id))).toMatchObject([
      { ...own, endpoints: [{ name: 'search' }] },
    ]);
    expect(await all(client.stats('files'))).toMatchObject([{ ...own, endpoints: [{ num_requests: 0 }] }]);
    expect((await all(client.ping())).length).toBeGreaterThanOrEqual(4);
  });

  (goReader ? it : it.skip)(
    'is read by nats.go into its own types, and is as the schemas of the `nats` command want it',
    async () => {
      const answers = (await Promise.all([gather('PING'), gather('INFO'), gather('STATS')])).flat();
      expect(goReader?.faults(answers.map((answer) => answer.string()))).toEqual([]);
      expect(goReader?.faults(['{"type":"io.nats.micro.v1.ping_response","name":"a b"}'])).not.toEqual([]);
    },
  );

  it('answers each instance for itself, to the bare subject, its name and its id', async () => {
    for (const target of ['', '.nexus-executor']) {
      const ids = (await gather('PING', target))
        .map((answer) => answer.json<ServiceInfo>())
        .filter(({ name }) => name === 'nexus-executor');
      expect(ids).toHaveLength(1);
    }
    expect(await gather('PING', `.tools.${executor.id}`)).toHaveLength(1);
  });
});

describe('A runner', () => {
  it('is a service for each module, with an endpoint for each tool as it is served', async () => {
    expect(await infoOf('tools')).toEqual({
      type: 'io.nats.micro.v1.info_response',
      name: 'tools',
      id: executor.id,
      version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
      description: expect.stringMatching(/^Tools of runner-/),
      metadata: {
        machine: 'build-box',
        executor: executor.id,
        interchangeable: 'false',
        scope: 'account_wide',
      },
      endpoints: [
        {
          name: 'look',
          subject: `${executor.subjects.tool}.look`,
          queue_group: 'q',
          metadata: {
            description: 'The tool look',
            input_schema: '{"type":"object"}',
            effect_profile: JSON.stringify(READ_ONLY),
            timeout_ms: '5000',
            scope: 'account_wide',
          },
        },
        expect.objectContaining({ name: 'fail' }),
      ],
    });
    expect((await infoOf('files')).endpoints).toMatchObject([{ name: 'search' }]);
  });

  it('listens on every subject that it announces', async () => {
    const { rows } = await node.db.pool.query<{ id: AccountId }>('select account_id as id from bus_accounts');
    const nexus = node.app.get(BusConnections).of(rows[0]?.id as AccountId).current;
    for (const { subject } of (await infoOf('tools')).endpoints as { subject: string }[]) {
      // no call: it has no claim
      const answer = await nexus?.request(subject, '{}');
      expect(answer?.headers?.get('Nats-Service-Error')).toBe('only Nexus sends calls');
    }
  });

  it('counts calls that fail in their own time, and never says what the tool said', async () => {
    const run = await newRun(node, agent, executor);
    const path = `/agent_api/v1/runs/${run}/tasks`;
    const before = await statsOf('tools', 'fail');
    const step = { call: { name: 'fail', key: 'k', input: {} } };
    ok(await node.http('POST', path, { token: agent.token, body: { steps: [step] } }));
    ok(await node.http('GET', `${path}/k?wait_ms=10000`, { token: agent.token }));
    const after = await statsOf('tools', 'fail');
    expect(after).toMatchObject({
      num_requests: before.num_requests + 1,
      num_errors: before.num_errors + 1,
      last_error: 'the call could not be run',
    });
    expect(after.processing_time).toBeGreaterThan(before.processing_time);
    expect(await statsOf('tools', 'look')).toMatchObject({ last_error: expect.any(String) });
  });

  it('is seen with a changed list at once, under the same name and id', async () => {
    await runner.announce({ tools: [...TOOLS, served('new')] });
    const { endpoints, id, name } = await infoOf('tools');
    expect({ id, name }).toEqual({ id: executor.id, name: 'tools' });
    expect(endpoints.map((endpoint: { name: string }) => endpoint.name).sort()).toEqual([
      'fail',
      'look',
      'new',
    ]);
    await runner.announce({ tools: TOOLS });
    expect((await infoOf('tools')).endpoints).toHaveLength(2);
  });

  it('says nothing of what Nexus refused', async () => {
    const broken = { ...served('broken'), input_schema: { type: 'array' } };
    await expect(runner.announce({ tools: [...TOOLS, broken] })).rejects.toMatchObject({ status: 422 });
    expect((await infoOf('tools')).endpoints).toHaveLength(2);
    await runner.announce({ tools: [...TOOLS, broken, served('no name')] }, { onInvalid: 'drop' });
    expect((await infoOf('tools')).endpoints).toHaveLength(2);
  });

  it('answers only where an inbox is: nobody makes it speak elsewhere in its name', async () => {
    const heard: string[] = [];
    const own = await newRunner(node, account);
    const listening = await onBus(own);
    listening.connection.subscribe(own.subjects.work, {
      callback: (_, message) => heard.push(message.string()),
    });
    await listening.connection.flush();
    for (const verb of ['PING', 'INFO', 'STATS']) {
      for (const reply of [own.subjects.work, `${executor.subjects.executor}.announce`])
        member.connection.publish(`$SRV.${verb}.tools`, '', { reply });
      member.connection.publish(`$SRV.${verb}`);
    }
    expect((await infoOf('tools')).id).toBe(executor.id);
    await listening.connection.flush();
    expect(heard).toEqual([]);
    await listening.close();
  });

  it('whose INFO is past half of max_payload gives digests of its largest schemas, and arrives', async () => {
    const wide = await newRunner(node, account);
    // a description of the parameters, as long as the tool's number is high
    const schemaOf = (index: number): object => ({ type: 'object', description: 'x'.repeat(1_000 + index) });
    const tools = Array.from({ length: 500 }, (_, index) =>
      served(`t${index}`, { input_schema: schemaOf(index) }),
    );
    const of500 = await running(wide, { tools });
    const answer = await member.connection.request(`$SRV.INFO.tools.${wide.id}`);
    const half = (member.connection.info?.max_payload ?? 0) / 2;
    expect(answer.data.length).toBeLessThan(half);
    expect(answer.data.length).toBeGreaterThan(half - 2_000);
    const { endpoints } = answer.json<{ endpoints: { metadata: Record<string, string> }[] }>();
    expect(endpoints).toHaveLength(500);
    const inline = endpoints.filter(({ metadata }) => metadata['input_schema'] !== undefined).length;
    expect(inline).toBeGreaterThan(100);
    const schema = JSON.stringify(schemaOf(499));
    expect(endpoints[499]?.metadata).toMatchObject({
      input_schema_sha256: createHash('sha256').update(schema).digest('hex'),
      input_schema_bytes: String(schema.length),
    });
    expect(answerFaults('INFO', answer.json())).toEqual([]);
    await of500.close();
  });

  it('with a subject that it may not hear says which, and serves the rest', async () => {
    const limited = await newRunner(node, account, { modules: ['tools'] });
    const { executor: facts } = limited.registration;
    const registration = { ...limited.registration, executor: { ...facts, modules: ['tools', 'others'] } };
    const partly = await running({ ...limited, registration }, { tools: [served('look')] });
    await until(() => Promise.resolve(logged.some((line) => line.includes('$SRV.INFO.others'))));
    expect((await infoOf('tools', limited.id)).endpoints).toMatchObject([{ name: 'look' }]);
    await partly.close();
  });

  it('that waits for its turn says nothing, and one that has left is gone', async () => {
    const shared = await newRunner(node, account);
    const first = await running(shared, { tools: [served('one')] });
    const second = running(shared, { tools: [served('two')] });
    expect(await gather('PING', `.tools.${shared.id}`)).toHaveLength(1);
    await first.close();
    const next = await second;
    expect((await infoOf('tools', shared.id)).endpoints).toMatchObject([{ name: 'two' }]);
    await next.close();
    await expect(infoOf('tools', shared.id)).rejects.toMatchObject({ code: '503' });
  });
});

describe('A node', () => {
  it('counts what it refuses in its own time', async () => {
    const own = await newRunner(node, account);
    const asking = await onBus(own);
    const before = await statsOf('nexus-executor', 'announce');
    expect(await asking.ask('announce', {})).toMatchObject({ code: 'parameter_missing' });
    expect(await statsOf('nexus-executor', 'announce')).toMatchObject({
      num_requests: before.num_requests + 1,
      num_errors: before.num_errors + 1,
      last_error: 'parameter_missing',
    });
    await asking.close();
  });

  it('announces each verb of the executor plane on the subject that it is served on', async () => {
    const [answer] = await gather('INFO', '.nexus-executor');
    const { endpoints } = answer?.json() as ServiceInfo;
    const prefix = node.env.NEXUS_BUS_PREFIX;
    for (const verb of [
      'describe',
      'announce',
      'inbox',
      'claim',
      'claim_status',
      'extend',
      'commit',
      'progress',
    ])
      expect(endpoints).toContainEqual(
        expect.objectContaining({
          name: verb,
          subject: `${prefix}.executor.*.*.${verb}`,
          queue_group: 'nexus',
        }),
      );
  });
});
