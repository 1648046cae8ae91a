import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '../../src/db/ids.js';
import {
  announce,
  firstAccount,
  newAgent,
  newExecutor,
  newHuman,
  newRunner,
  ok,
  type TestAccount,
  type TestExecutor,
  type TestMember,
  tool,
  WRITE,
} from '../support/factories.js';
import { TestNode } from '../support/node.js';
import { type ConsoleDoor, consoleDoors } from './console-doors.js';
import { type Answerer, answerAs, serviceOf } from './stage.js';

let node: TestNode;
let account: TestAccount;
let steward: TestMember;
let agent: TestMember;
let agentDoors: ConsoleDoor[];
let humanDoors: ConsoleDoor[];
const answerers: Answerer[] = [];

/** A runner that answers on the bus with what it announced. */
async function serving(fields: object, tools: object[], announced: object = {}): Promise<TestExecutor> {
  const executor = await newRunner(node, account, fields);
  await serve(executor, tools, announced);
  return executor;
}

async function serve(executor: TestExecutor, tools: object[], announced: object = {}): Promise<void> {
  const { modules = ['tools'] } =
    (
      await node.db.pool.query<{ modules: string[] }>('select modules from executors where id = $1', [
        executor.id,
      ])
    ).rows[0] ?? {};
  await announce(node, executor, tools, announced);
  const services = modules.map((module) => {
    const own = (tools as { name: string; module?: string }[]).filter(
      (one) => (one.module ?? modules[0]) === module,
    );
    return serviceOf(
      executor,
      own.map(({ name }) => name),
      { name: module },
    );
  });
  answerers.push(await answerAs(executor, ...services));
}

const provider = async (fields: object, tools: object[]): Promise<TestExecutor> => {
  const name = `provider-${newId()}`;
  const executor = await newExecutor(node, account, {
    kind: 'tool_provider',
    display_name: name,
    manager_public_id: account.adminId,
    registration_identifier: name,
    assignment_scope: 'account_wide',
    ...fields,
  });
  await serve(executor, tools);
  return executor;
};

let box: TestExecutor;
let attic: TestExecutor;
let ofStranger: TestExecutor;
let silent: TestExecutor;
let providers: TestExecutor[];

beforeAll(async () => {
  node = await TestNode.start();
  account = await firstAccount(node);
  steward = await newHuman(node, account);
  agent = await newAgent(node, account, { steward_public_id: steward.id, approval_floor: 'bypass' });
  box = await serving({ machine: 'box', display_name: 'The box' }, [
    tool('ls', { description: 'Lists a folder', timeout_ms: 5_000 }),
    tool('format_disk', { description: 'Formats', effect_profile: WRITE }),
    { name: 'reboot', effect_profile: WRITE },
  ]);
  attic = await serving({ machine: 'attic', modules: ['tools', 'cellar'] }, [
    tool('ls', { description: 'Lists the attic' }),
    tool('dig', { module: 'cellar', description: 'Digs a folder' }),
  ]);
  const stranger = await newHuman(node, account);
  ofStranger = await serving(
    { machine: 'private', manager_public_id: stranger.id, assignment_scope: 'user_private' },
    [tool('private_ls')],
  );
  silent = await newRunner(node, account, { machine: 'silent' });
  await announce(node, silent, [tool('silent_ls')]);
  providers = [
    await provider({ modules: ['memory'], machine: 'm1' }, [tool('recall', { timeout_ms: 1_000 })]),
    await provider({ modules: ['memory'], machine: 'm2' }, [tool('recall', { effect_profile: WRITE })]),
  ];
  agentDoors = await consoleDoors(node, agent);
  humanDoors = await consoleDoors(node, steward);
});

afterAll(async () => {
  for (const door of [...(agentDoors ?? []), ...(humanDoors ?? [])]) await door.close();
  for (const answerer of answerers) await answerer.stop();
  await node?.close();
});

describe('The console answers alike on every door', () => {
  it.each([
    ['machines', {}],
    ['machines', { limit: 1 }],
    ['machines', { limit: 0 }],
    ['machines', { after: 'x' }],
    ['services', {}],
    ['tools', {}],
    ['tools', { query: 'folder', limit: 1 }],
    ['tools', { query: 'much '.repeat(52) }],
    ['tools', { limit: 201 }],
    ['describe', { address: 'tools@box/ls' }],
    ['describe', { address: 'memory/recall' }],
    ['describe', { address: 'tools/ls' }],
    ['describe', { address: 'memory@m1/recall' }],
    ['describe', { address: 'ls' }],
    ['describe', { address: 'tools@private/private_ls' }],
    ['describe', {}],
  ] as const)('%s %j', async (verb, asked) => {
    const answers = await Promise.all(agentDoors.map((door) => door.ask(verb, asked)));
    const timeless = answers.map((answer) => ({ ...(answer as object), asked_at: undefined }));
    for (const answer of timeless) expect(answer).toEqual(timeless[0]);
    expect(timeless[0]).not.toEqual({});
  });
});

const rest = (member: 'agent' | 'human' = 'agent'): ConsoleDoor =>
  (member === 'agent' ? agentDoors : humanDoors)[0] as ConsoleDoor;

describe('machines', () => {
  it('shows machines with what answers there, and what is not answering, of what the caller is eligible for', async () => {
    const { machines, not_answering } = await rest().ask('machines');
    const names = machines.map(({ machine }: { machine: string }) => machine);
    expect(names.filter((name: string) => !name.startsWith('nexus-'))).toEqual(['attic', 'box', 'm1', 'm2']);
    expect(machines.find(({ machine }: { machine: string }) => machine === 'box').services).toEqual([
      {
        name: 'tools',
        id: box.id,
        executor_public_id: box.id,
        display_name: 'The box',
        tools: 3,
        state: 'answering',
      },
    ]);
    expect(not_answering).toEqual([
      {
        module: 'tools',
        machine: 'silent',
        executor_public_id: silent.id,
        last_seen_at: expect.any(String),
      },
    ]);
    expect(JSON.stringify([machines, not_answering])).not.toContain(ofStranger.id);
  });

  it('are paged', async () => {
    const all = (await rest().ask('machines')).machines;
    const paged: unknown[] = [];
    let after: string | undefined;
    do {
      const page = await rest().ask('machines', { limit: 2, ...(after ? { after } : {}) });
      paged.push(...page.machines);
      after = page.pagination.next_after;
    } while (after);
    expect(paged).toEqual(all);
  });
});

describe('services', () => {
  it('shows modules and seats, their instances, interchangeable or not', async () => {
    const { services } = await rest().ask('services');
    const named = (name: string) => services.find((one: { name: string }) => one.name === name);
    expect(services.map(({ name }: { name: string }) => name)).toEqual([
      'cellar',
      'memory',
      'nexus-console',
      'nexus-controller',
      'nexus-executor',
      'tools',
    ]);
    expect(named('nexus-console')).toMatchObject({ seat: 'console', interchangeable: true });
    expect(named('memory')).toEqual({
      name: 'memory',
      seat: null,
      interchangeable: true,
      instances: providers.map(({ id }, index) => ({
        machine: `m${index + 1}`,
        id,
        executor_public_id: id,
        state: 'answering',
      })),
    });
    expect(named('tools')).toMatchObject({ seat: null, interchangeable: false });
    expect(named('tools').instances.map((one: object) => Object.values(one))).toEqual([
      ['attic', attic.id, attic.id, 'answering'],
      ['box', box.id, box.id, 'answering'],
      ['silent', null, silent.id, 'not_answering'],
    ]);
  });
});

describe('tools', () => {
  const addresses = async (asked: object, member: 'agent' | 'human' = 'agent'): Promise<string[]> =>
    (await rest(member).ask('tools', asked as never)).tools.map(
      ({ address }: { address: string }) => address,
    );

  it('finds what answers, each with its address; a pool is one', async () => {
    expect(await addresses({})).toEqual([
      'cellar@attic/dig',
      'memory/recall',
      'tools@attic/ls',
      'tools@box/format_disk',
      'tools@box/ls',
    ]);
  });

  it('says what each does', async () => {
    const { tools } = await rest().ask('tools', { query: 'lists box' });
    expect(tools).toEqual([
      {
        address: 'tools@box/ls',
        module: 'tools',
        machine: 'box',
        name: 'ls',
        description: 'Lists a folder',
        effect_profile: {
          kind: 'read_only',
          destructive: false,
          effect_scope: 'closed',
          idempotency: 'intrinsic',
          reconciliation: 'none',
        },
        interchangeable: false,
      },
    ]);
    const [pool] = (await rest().ask('tools', { query: 'recall' })).tools;
    expect(pool).toMatchObject({ address: 'memory/recall', machine: null, interchangeable: true });
    expect(pool).not.toHaveProperty('effect_profile');
  });

  it.each([
    ['folder', ['cellar@attic/dig', 'tools@box/ls']],
    ['FOLDER list', ['tools@box/ls']],
    ['attic', ['cellar@attic/dig', 'tools@attic/ls']],
    ['cellar', ['cellar@attic/dig']],
    ['  ', ['cellar@attic/dig', 'memory/recall', 'tools@attic/ls', 'tools@box/format_disk', 'tools@box/ls']],
    ['nothing_of_this_name', []],
    ["'; drop table tasks; --", []],
    ['silent_ls', []],
    ['private_ls', []],
  ])('by words: %j', async (query, expected) => {
    expect(await addresses({ query })).toEqual(expected);
  });

  it('shows people what only people call', async () => {
    expect(await addresses({ query: 'reboot' }, 'human')).toEqual(['tools@box/reboot']);
    expect(await addresses({ query: 'reboot' })).toEqual([]);
  });

  it('are paged, each once', async () => {
    const paged: string[] = [];
    let after: string | undefined;
    do {
      const page = await rest().ask('tools', { limit: 2, ...(after ? { after } : {}) });
      paged.push(...page.tools.map(({ address }: { address: string }) => address));
      after = page.pagination.next_after;
    } while (after);
    expect(paged).toEqual(await addresses({}));
  });

  it('end a page early where descriptions are long', async () => {
    const names = Array.from({ length: 6 }, (_, index) => `long_${index}`);
    const executor = await serving(
      { machine: 'long', modules: ['long'] },
      names.map((name) => tool(name, { description: 'long words '.repeat(10_000) })),
    );
    const first = await rest().ask('tools', { query: 'long_' });
    expect(first.tools.length).toBeLessThan(6);
    const second = await rest().ask('tools', { query: 'long_', after: first.pagination.next_after });
    expect([...first.tools, ...second.tools].map(({ name }: { name: string }) => name)).toEqual(
      expect.arrayContaining(names.slice(0, 4)),
    );
    ok(
      await node.http('POST', `/platform_api/v1/executors/${executor.id}/revoke`, {
        token: account.platformToken,
      }),
    );
  });
});

describe('describe', () => {
  it('answers description, schema, effect profile and instances, as they were announced', async () => {
    expect(await rest().ask('describe', { address: 'tools@box/ls' })).toEqual({
      tool: {
        address: 'tools@box/ls',
        module: 'tools',
        name: 'ls',
        description: 'Lists a folder',
        input_schema: { type: 'object' },
        effect_profile: expect.objectContaining({ kind: 'read_only' }),
        timeout_ms: 5_000,
        interchangeable: false,
        instances: [
          { machine: 'box', executor_public_id: box.id, display_name: 'The box', state: 'answering' },
        ],
      },
    });
  });

  it('of a pool says the worst of what its providers announced', async () => {
    const { tool: described } = await rest().ask('describe', { address: 'memory/recall' });
    expect(described).toMatchObject({ interchangeable: true, effect_profile: WRITE });
    expect(described.instances.map(({ machine }: { machine: string }) => machine)).toEqual(['m1', 'm2']);
  });

  it('also of what does not answer: presence only informs', async () => {
    const { tool: described } = await rest().ask('describe', { address: 'tools@silent/silent_ls' });
    expect(described.instances).toEqual([
      expect.objectContaining({ executor_public_id: silent.id, state: 'not_answering' }),
    ]);
  });

  it.each([
    ['a machine that nobody is on', 'tools@nowhere/ls'],
    ['a module that is elsewhere', 'cellar@box/dig'],
    ['a tool that is of another module', 'cellar@attic/ls'],
    ['a tool that is not served', 'tools@box/rm'],
    ['what the caller is not eligible for', 'tools@private/private_ls'],
    ['what only people call', 'tools@box/reboot'],
    ['a module that nobody knows', 'unknown/ls'],
    ['a seat', 'nexus-console/tools'],
  ])('is not_found for %s', async (_, address) => {
    expect(await rest().ask('describe', { address })).toEqual({ code: 'not_found' });
  });

  it('shows people what only people call', async () => {
    const { tool: described } = await rest('human').ask('describe', { address: 'tools@box/reboot' });
    expect(described).toMatchObject({ name: 'reboot', effect_profile: WRITE });
    expect(described).not.toHaveProperty('input_schema');
  });

  it('picks nothing silently', async () => {
    const { body } = await node.http('GET', '/agent_api/v1/mesh/describe?address=tools/ls', {
      token: agent.token,
    });
    expect(body.error).toMatchObject({
      code: 'ambiguous_address',
      details: [
        { address: 'tools@attic/ls', executor_public_id: attic.id },
        { address: 'tools@box/ls', executor_public_id: box.id, display_name: 'The box' },
      ],
    });
  });
});
