import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createAccount } from '../../src/identity/new-account.js';
import {
  accountOf,
  announce,
  type TestAccount,
  type TestExecutor,
  type TestMember,
  firstAccount,
  newAgent,
  newExecutor,
  newHuman,
  newRunner,
  ok,
  tool,
  withToken,
} from '../support/factories.js';
import { type HttpAnswer, TestNode } from '../support/node.js';

const PROFILE = '/agent_api/v1/profile';
const CONFIGURATION = '/agent_api/v1/profile/configuration';
const ASSEMBLY = '/agent_api/v1/tools/assembly';
const UNKNOWN = '01990000-0000-7000-8000-0000000000ff';

interface Row {
  runner_executor_public_id: string;
  display_name: string;
  environment: object;
}

interface AssemblyBody {
  tool_definitions: {
    function: { name: string };
    route?: { runner_executor_public_id: string; tool_name: string };
  }[];
  environment: {
    default_runner_executor_public_id: string | null;
    executors: Row[];
    runner_candidates: Row[];
  };
  provider_tools?: unknown[];
}

let one: TestNode;
let two: TestNode;
let account: TestAccount;
let admin: TestMember;

beforeAll(async () => {
  one = await TestNode.start();
  two = await TestNode.start({}, one);
  account = await firstAccount(one);
  admin = await withToken(one, account, account.adminId);
});

afterAll(async () => {
  await two?.close();
  await one?.close();
});

const configure = (member: TestMember, body: unknown, node = one): Promise<HttpAnswer> =>
  node.http('PUT', CONFIGURATION, { token: member.token, body });

const assemble = (member: TestMember, body: unknown, { node = one, query = '' } = {}): Promise<HttpAnswer> =>
  node.http('POST', `${ASSEMBLY}${query}`, { token: member.token, body });

const assembled = async (
  member: TestMember,
  body: unknown,
  options?: { node?: TestNode; query?: string },
): Promise<AssemblyBody> => ok(await assemble(member, body, options)).body as AssemblyBody;

const namesOf = (body: AssemblyBody): string[] =>
  body.tool_definitions.map((definition) => definition.function.name);

const selecting = (runner: TestExecutor, configuration: object = {}): object => ({
  default_runner_executor_public_id: runner.id,
  configuration: { runner_executor_public_ids: [runner.id], ...configuration },
});

const routeTo = (runnerId: string, toolName: string, name = 'there'): object => ({
  tool_definitions: [
    {
      type: 'function',
      function: { name, parameters: { type: 'object' } },
      route: { kind: 'runner', runner_executor_public_id: runnerId, tool_name: toolName },
    },
  ],
});

describe('The profile', () => {
  it('says who a human is', async () => {
    const human = await newHuman(one, account, { display_name: 'Ada' });
    const { status, body } = await one.http('GET', PROFILE, { token: human.token });
    expect(status).toBe(200);
    expect(body).toEqual({
      member: {
        public_id: human.id,
        kind: 'human',
        display_name: 'Ada',
        role: 'member',
        created_at: expect.any(String),
      },
    });
  });

  it('says who an agent is, with an empty configuration before there is one', async () => {
    const agent = await newAgent(one, account, { display_name: 'Bot' });
    const { body } = await one.http('GET', PROFILE, { token: agent.token });
    expect(body).toEqual({
      member: {
        public_id: agent.id,
        kind: 'agent',
        display_name: 'Bot',
        steward_public_id: account.adminId,
        approval_floor: 'ask',
        approval_rules: [],
        created_at: expect.any(String),
      },
      configuration: {},
    });
  });

  it('belongs to the member plane', async () => {
    const runner = await newRunner(one, account);
    for (const token of [undefined, account.platformToken, runner.token, 'nxm_nobody']) {
      expect((await one.http('GET', PROFILE, { token })).status).toBe(401);
      expect((await one.http('PUT', CONFIGURATION, { token, body: {} })).status).toBe(401);
      expect((await one.http('POST', ASSEMBLY, { token, body: {} })).status).toBe(401);
    }
  });
});

describe('The configuration', () => {
  it('is stored and answered byte for byte', async () => {
    const agent = await newAgent(one, account);
    const text =
      '{ "z":1.50e+2, "approval_mode" : "ask","2":0,"1":0, "note":"\\u0041 \\/ caf\\u00e9 𝒳",\n "runner_tool_names":null }';
    const put = await configure(agent, text);
    expect(put.status).toBe(200);
    expect(put.text).toContain(`"configuration":${text}}`);
    for (const node of [one, two]) {
      expect((await node.http('GET', PROFILE, { token: agent.token })).text).toBe(put.text);
    }
  });

  it('is replaced whole, and every node sees the replacement at once', async () => {
    const agent = await newAgent(one, account);
    for (const [index, node] of [one, two, one, two].entries()) {
      ok(await configure(agent, { [`key${index}`]: index }, node));
      for (const reader of [one, two]) {
        const { body } = await reader.http('GET', PROFILE, { token: agent.token });
        expect(body).toMatchObject({ configuration: { [`key${index}`]: index } });
        expect(Object.keys((body as { configuration: object }).configuration)).toHaveLength(1);
      }
    }
  });

  it('belongs to agents', async () => {
    for (const member of [admin, await newHuman(one, account)]) {
      expect(await configure(member, {})).toMatchObject({
        status: 403,
        body: { error: { code: 'not_agent' } },
      });
      expect(await assemble(member, { default_runner_executor_public_id: null })).toMatchObject({
        status: 403,
        body: { error: { code: 'not_agent' } },
      });
    }
  });

  it.each([
    ['ask', ['ask'], ['rules', 'bypass']],
    ['rules', ['ask', 'rules'], ['bypass']],
    ['bypass', ['ask', 'rules', 'bypass'], []],
  ])('is never looser than the floor %s', async (approval_floor, admitted, refused) => {
    const agent = await newAgent(one, account, { approval_floor });
    for (const approval_mode of admitted)
      expect((await configure(agent, { approval_mode })).status).toBe(200);
    for (const approval_mode of refused) {
      expect(await configure(agent, { approval_mode })).toMatchObject({
        status: 403,
        body: { error: { code: 'approval_floor', message: expect.stringMatching(/^approval_mode /) } },
      });
    }
    expect((await configure(agent, {})).status).toBe(200);
  });

  it.each<[status: number, code: string, message: string, body: unknown]>([
    [400, 'invalid_json', '', '{'],
    [400, 'invalid_json', 'kernel_tools', '{"kernel_tools":[],"kernel_tools":[]}'],
    [400, 'parameter_missing', 'configuration must be an object', '[]'],
    [422, 'validation_failed', 'kernel_tools[0] must be one of', { kernel_tools: ['nexus.nobody'] }],
    [
      422,
      'validation_failed',
      'approval_rules[0].verdict',
      { approval_rules: [{ tool: 'read', verdict: 'maybe' }] },
    ],
    [
      422,
      'runner_target_required',
      'tool_definitions[0].route',
      routeTo(undefined as unknown as string, 'read'),
    ],
    [422, 'invalid_tool_route', 'tool_definitions[0].route', routeTo('box', 'read')],
    [422, 'invalid_tool_route', 'tool_definitions[0].route', routeTo(UNKNOWN, 'read', 'runners_list')],
    [413, 'content_too_large', '', { note: 'x'.repeat(1024 * 1024) }],
  ])('is refused %i %s %s, and the former one stays', async (status, code, message, body) => {
    const agent = await newAgent(one, account);
    ok(await configure(agent, { note: 'former' }));
    const answer = await configure(agent, body);
    expect(answer).toMatchObject({
      status,
      body: { error: { code, message: expect.stringContaining(message) } },
    });
    expect((await one.http('GET', PROFILE, { token: agent.token })).body).toMatchObject({
      configuration: { note: 'former' },
    });
  });
});

describe('An assembly', () => {
  it('shows what the profile’s runs receive, with the announced bytes', async () => {
    const agent = await newAgent(one, account);
    const runner = await newRunner(one, account, { display_name: 'Build box' });
    const entry =
      '{"name":"read","effect_profile":{"kind":"pure","destructive":false,"effect_scope":"closed","idempotency":"none",' +
      '"reconciliation":"none"},"description":"caf\\u00e9","input_schema":{ "type":"object","x":1.50 }}';
    const announcement = `{"tools":[${entry}],"environment":{ "os":"linux", "n":1.0 }}`;
    ok(
      await one.http('PUT', '/agent_api/v1/executor/announcement', {
        token: runner.token,
        body: announcement,
      }),
    );
    ok(await configure(agent, { runner_executor_public_ids: [runner.id] }));
    const { text } = ok(await assemble(agent, { default_runner_executor_public_id: runner.id }));
    const row = `{"runner_executor_public_id":"${runner.id}","display_name":"Build box","environment":{ "os":"linux", "n":1.0 }}`;
    const route = `{"kind":"runner","runner_executor_public_id":"${runner.id}","tool_name":"read"}`;
    expect(text).toBe(
      '{"tool_definitions":[{"type":"function","function":{"name":"read","description":"caf\\u00e9","parameters":' +
        `{ "type":"object","x":1.50 }},"route":${route}}],"environment":{"default_runner_executor_public_id":"${runner.id}",` +
        `"executors":[${row}],"runner_candidates":[${row}]}}`,
    );
  });

  it('takes a configuration in place of the profile’s, and {} assembles nothing', async () => {
    const agent = await newAgent(one, account);
    const runner = await newRunner(one, account);
    await announce(one, runner, [tool('read')]);
    ok(await configure(agent, { kernel_tools: ['nexus.runners.list'] }));
    expect(namesOf(await assembled(agent, { default_runner_executor_public_id: null }))).toEqual([
      'runners_list',
    ]);
    expect(namesOf(await assembled(agent, selecting(runner)))).toEqual(['read']);
    expect(await assembled(agent, { default_runner_executor_public_id: null, configuration: {} })).toEqual({
      tool_definitions: [],
      environment: { default_runner_executor_public_id: null, executors: [], runner_candidates: [] },
    });
  });

  it('follows a replaced announcement at once on every node', async () => {
    const agent = await newAgent(one, account);
    const runner = await newRunner(one, account);
    for (const name of ['read', 'write', 'ls']) {
      await announce(one, runner, [tool(name)]);
      for (const node of [one, two])
        expect(namesOf(await assembled(agent, selecting(runner), { node }))).toEqual([name]);
    }
  });

  it('leaves ineligible candidates out silently', async () => {
    const agent = await newAgent(one, account);
    const [open, closing, gone, foreign] = [
      await newRunner(one, account),
      await newRunner(one, account),
      await newRunner(one, account),
      await newRunner(one, account, {
        assignment_scope: 'user_private',
        manager_public_id: (await newHuman(one, account)).id,
      }),
    ];
    await one.http('POST', `/platform_api/v1/executors/${closing.id}/shutdown`, {
      token: account.platformToken,
    });
    await one.http('POST', `/platform_api/v1/executors/${gone.id}/revoke`, { token: account.platformToken });
    const runner_executor_public_ids = [foreign.id, gone.id, open.id, UNKNOWN, closing.id];
    const { environment } = await assembled(agent, {
      default_runner_executor_public_id: null,
      configuration: { runner_executor_public_ids },
    });
    expect(environment.runner_candidates.map((row) => row.runner_executor_public_id)).toEqual([open.id]);
    for (const runner of [foreign, gone, closing]) {
      expect(await assemble(agent, selecting(runner))).toMatchObject({
        status: 422,
        body: { error: { code: 'runner_not_eligible' } },
      });
    }
  });

  it('admits the private runner of the agent’s steward', async () => {
    const agent = await newAgent(one, account);
    const runner = await newRunner(one, account, { assignment_scope: 'user_private' });
    await announce(one, runner, [tool('read')]);
    expect(namesOf(await assembled(agent, selecting(runner)))).toEqual(['read']);
  });

  it('has runners only as candidates', async () => {
    const agent = await newAgent(one, account);
    const provider = await newExecutor(one, account, {
      kind: 'tool_provider',
      display_name: 'Pool',
      manager_public_id: account.adminId,
      registration_identifier: 'pool',
      assignment_scope: 'account_wide',
    });
    await announce(one, provider, [tool('search')]);
    expect((await assemble(agent, selecting(provider))).body).toMatchObject({
      error: { code: 'runner_not_eligible' },
    });
  });

  it('knows an executor’s kernel tool skill by its documents', async () => {
    const agent = await newAgent(one, account);
    const runner = await newRunner(one, account);
    const documents = [{ name: 'git', description: 'How we use git' }];
    await announce(one, runner, [{ ...tool('skill'), description: undefined, input_schema: undefined }], {
      documents,
    });
    const { tool_definitions } = await assembled(agent, selecting(runner));
    expect(tool_definitions).toEqual([
      expect.objectContaining({
        documents,
        route: { kind: 'runner', runner_executor_public_id: runner.id, tool_name: 'skill' },
      }),
    ]);
  });

  it.each(['openai', 'anthropic', 'mcp'])('also answers the wire shape of %s', async (format) => {
    const agent = await newAgent(one, account);
    const runner = await newRunner(one, account);
    await announce(one, runner, [tool('read')]);
    const { provider_tools, tool_definitions } = await assembled(agent, selecting(runner), {
      query: `?format=${format}`,
    });
    const schema = { type: 'object' };
    const read = { name: 'read', description: 'The tool read' };
    const shapes: Record<string, object> = {
      openai: { type: 'function', function: { ...read, parameters: schema } },
      anthropic: { ...read, input_schema: schema },
      mcp: { ...read, inputSchema: schema },
    };
    expect(provider_tools).toEqual([shapes[format]]);
    expect(tool_definitions).toHaveLength(1);
  });
});

describe('An assembly is refused', () => {
  it.each<[status: number, code: string, message: string, body: unknown, query?: string]>([
    [400, 'parameter_missing', 'default_runner_executor_public_id is required', {}],
    [400, 'parameter_missing', 'default_runner_executor_public_id', { default_runner_executor_public_id: 7 }],
    [
      400,
      'parameter_missing',
      'default_runner_executor_public_id',
      { default_runner_executor_public_id: 'box' },
    ],
    [
      400,
      'parameter_missing',
      'configuration',
      { default_runner_executor_public_id: null, configuration: [] },
    ],
    [
      400,
      'parameter_missing',
      'configuration',
      { default_runner_executor_public_id: null, configuration: null },
    ],
    [400, 'parameter_invalid', 'format', { default_runner_executor_public_id: null }, '?format=smoke'],
    [
      422,
      'runner_not_declared',
      'default_runner_executor_public_id',
      { default_runner_executor_public_id: UNKNOWN },
    ],
    [
      422,
      'validation_failed',
      'configuration.runner_tool_names must be a list',
      { default_runner_executor_public_id: null, configuration: { runner_tool_names: 'all' } },
    ],
    [
      422,
      'runner_not_eligible',
      'configuration.tool_definitions[0].route',
      { default_runner_executor_public_id: null, configuration: routeTo(UNKNOWN, 'read') },
    ],
    [
      422,
      'runner_target_required',
      'configuration.tool_definitions[0].route',
      {
        default_runner_executor_public_id: null,
        configuration: routeTo(undefined as unknown as string, 'read'),
      },
    ],
  ])('%i %s %s', async (status, code, message, body, query = '') => {
    const agent = await newAgent(one, account);
    const answer = await assemble(agent, body, { query });
    expect(answer).toMatchObject({
      status,
      body: { error: { code, message: expect.stringMatching(prefix(message)) } },
    });
  });

  it('422 tool_not_served where an explicit route names what its runner does not serve to models', async () => {
    const agent = await newAgent(one, account);
    const runner = await newRunner(one, account);
    await announce(one, runner, [tool('read'), { ...tool('process_log'), description: undefined }]);
    for (const [name, status] of [
      ['read', 200],
      ['write', 422],
      ['process_log', 422],
    ] as const) {
      const body = { default_runner_executor_public_id: null, configuration: routeTo(runner.id, name) };
      expect((await assemble(agent, body)).status).toBe(status);
    }
  });

  it('413 content_too_large above 1 MiB', async () => {
    const agent = await newAgent(one, account);
    const runners = [await newRunner(one, account), await newRunner(one, account)];
    for (const runner of runners) {
      await announce(one, runner, [tool('long', { description: 'd'.repeat(700 * 1024) })], {
        environment: { note: 'e'.repeat(60 * 1024) },
      });
    }
    const [first] = runners as [TestExecutor];
    const tool_definitions = [
      { type: 'function', function: { name: 'mine', description: 'm'.repeat(300 * 1024), parameters: {} } },
    ];
    expect((await assemble(agent, selecting(first))).status).toBe(200);
    expect(await assemble(agent, selecting(first, { tool_definitions }))).toMatchObject({
      status: 413,
      body: { error: { code: 'content_too_large' } },
    });
  });

  it('422 runner_not_eligible for a runner of another account, as for one that does not exist', async () => {
    const { platformToken } = await one.db.transaction((sql) => createAccount(sql, 'Another'));
    const another = await accountOf(one, platformToken);
    const foreigner = await newAgent(one, another);
    const runner = await newRunner(one, account);
    await announce(one, runner, [tool('read')]);
    const routed = { default_runner_executor_public_id: null, configuration: routeTo(runner.id, 'read') };
    const unknown = { default_runner_executor_public_id: null, configuration: routeTo(UNKNOWN, 'read') };
    expect((await assemble(foreigner, selecting(runner))).body).toMatchObject({
      error: { code: 'runner_not_eligible' },
    });
    expect((await assemble(foreigner, routed)).text).toBe((await assemble(foreigner, unknown)).text);
    const candidates = { runner_executor_public_ids: [runner.id] };
    const { environment } = await assembled(foreigner, {
      default_runner_executor_public_id: null,
      configuration: candidates,
    });
    expect(environment.runner_candidates).toEqual([]);
    expect(namesOf(await assembled(await newAgent(one, account), selecting(runner)))).toEqual(['read']);
  });
});

describe('A run', () => {
  it('freezes exactly what an assembly shows', async () => {
    const agent = await newAgent(one, account);
    const runner = await newRunner(one, account);
    await announce(one, runner, [tool('read'), tool('write')], { environment: { os: 'linux' } });
    ok(
      await configure(agent, {
        runner_executor_public_ids: [runner.id],
        kernel_tools: ['nexus.runners.list'],
      }),
    );
    const selector = { default_runner_executor_public_id: runner.id };
    const shown = await assembled(agent, selector);
    const { body } = ok(await two.http('POST', '/agent_api/v1/runs', { token: agent.token, body: selector }));
    const { tool_definitions, environment } = (body as { run: AssemblyBody }).run;
    expect({ tool_definitions, environment }).toEqual(shown);
  });
});

function prefix(text: string): RegExp {
  return new RegExp(`^${text.replaceAll(/[.[\]]/g, '\\$&')}`);
}
