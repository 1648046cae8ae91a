import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AnnouncementDirectory } from '../../src/announcement/announcement-directory.js';
import { newId } from '../../src/db/ids.js';
import { KeyedDatabase } from '../../src/db/keyed-database.js';
import { secondAccount } from '../discovery/second-account.js';
import {
  announce,
  firstAccount,
  newAgent,
  newExecutor,
  newHuman,
  newRun,
  newRunner,
  ok,
  READ_ONLY,
  type TestAccount,
  type TestExecutor,
  type TestMember,
  tool,
  withToken,
  WRITE,
} from '../support/factories.js';
import { type HttpAnswer, TestNode } from '../support/node.js';
import { accept, callStep, outcome, type TaskBody, taskOf, toolStep } from './stage.js';

let one: TestNode;
let two: TestNode;
let account: TestAccount;
let admin: TestMember;
let agent: TestMember;
let runner: TestExecutor;

const RUNS = '/agent_api/v1/runs';

beforeAll(async () => {
  one = await TestNode.start();
  two = await TestNode.start({}, one);
  account = await firstAccount(one);
  admin = await withToken(one, account, account.adminId);
  agent = await newAgent(one, account, { approval_floor: 'bypass' });
  runner = await newRunner(one, account);
  await announce(one, runner, [
    tool('read', { timeout_ms: 5_000 }),
    tool('bash', { effect_profile: WRITE }),
    { name: 'files_bytes', effect_profile: READ_ONLY },
  ]);
});

afterAll(async () => {
  await two?.close();
  await one?.close();
});

const application = (agentId: string, fields: object = {}): Promise<TestExecutor> =>
  newExecutor(one, account, {
    kind: 'agent_application',
    display_name: 'Application',
    agent_public_id: agentId,
    assignment_scope: 'user_private',
    ...fields,
  });

const provider = (): Promise<TestExecutor> => {
  const name = `provider-${newId()}`;
  return newExecutor(one, account, {
    kind: 'tool_provider',
    display_name: name,
    manager_public_id: account.adminId,
    registration_identifier: name,
    assignment_scope: 'account_wide',
  });
};

const executorVerb = (executor: TestExecutor, verb: string): Promise<HttpAnswer> =>
  one.http('POST', `/platform_api/v1/executors/${executor.id}/${verb}`, { token: account.platformToken });

const createRun = (member: TestMember, body: object, headers: Record<string, string> = {}, node = one) =>
  node.http('POST', RUNS, { token: member.token, body, headers });

const tasksOf = async (member: TestMember, runId: string): Promise<TaskBody[]> =>
  (
    ok(await one.http('GET', `${RUNS}/${runId}/tasks?limit=200`, { token: member.token })).body as {
      tasks: TaskBody[];
    }
  ).tasks;

describe('Where a call goes', () => {
  it('lowers a model’s call to the served tool at the frozen target and keeps the callable as alias', async () => {
    const configuration = {
      tool_definitions: [
        {
          type: 'function',
          function: { name: 'remote_read', parameters: { type: 'object' } },
          route: { kind: 'runner', runner_executor_public_id: runner.id, tool_name: 'read' },
        },
      ],
    };
    const run = await newRun(one, agent, null, { configuration });
    const task = taskOf(
      await accept(one, agent, run, [
        callStep('remote_read', { key: 'first', tool_call_id: 'call_1', input: { path: 'a' } }),
      ]),
    );
    expect(task).toEqual({
      run_public_id: run,
      task_key: 'first',
      kind: 'tool_call',
      tool_name: 'read',
      tool_alias: 'remote_read',
      tool_call_id: 'call_1',
      tool_input: { path: 'a' },
      status: 'dispatched',
      generation: 1,
      effect_profile: READ_ONLY,
      target: { executor_public_id: runner.id, display_name: expect.any(String) },
      addressed_to: { role: 'runner', executor_public_id: runner.id },
      approval: { origin: 'mode', decided_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/) },
      timeout_ms: 5_000,
      accepted_at: expect.any(String),
      started_at: expect.any(String),
      deadline_at: expect.any(String),
    });
    const { started_at, deadline_at } = task as unknown as { started_at: string; deadline_at: string };
    expect(Date.parse(deadline_at) - Date.parse(started_at)).toBe(5_000);
  });

  it('goes by a route with a UUID to that runner', async () => {
    const run = await newRun(one, agent, null);
    const task = taskOf(await accept(one, agent, run, [toolStep('read', runner)]));
    expect(task).toMatchObject({
      tool_name: 'read',
      addressed_to: { role: 'runner', executor_public_id: runner.id },
    });
    expect(task).not.toHaveProperty('tool_alias');
  });

  it('goes by a route without a UUID to the default as it stands now, or the run’s own without a conversation', async () => {
    const other = await newRunner(one, account);
    await announce(one, other, [tool('read')]);
    const defaultRoute = toolStep('read', undefined, { route: { kind: 'runner' } });
    const alone = await newRun(one, agent, runner);
    expect(taskOf(await accept(one, agent, alone, [defaultRoute]))).toMatchObject({
      target: { executor_public_id: runner.id },
    });
    const { conversation } = ok(
      await one.http('POST', '/agent_api/v1/conversations', {
        token: agent.token,
        body: { default_runner_executor_public_id: runner.id },
      }),
    ).body as { conversation: { public_id: string } };
    const within = await newRun(one, agent, runner, { conversation_public_id: conversation.public_id });
    const path = `/agent_api/v1/conversations/${conversation.public_id}/default_runner`;
    const first = taskOf(await accept(one, agent, within, [defaultRoute]));
    ok(await one.http('PUT', path, { token: agent.token, body: { runner_executor_public_id: other.id } }));
    const second = taskOf(await accept(one, agent, within, [defaultRoute]));
    expect([first, second]).toMatchObject([
      { target: { executor_public_id: runner.id } },
      { target: { executor_public_id: other.id } },
    ]);
    ok(await one.http('PUT', path, { token: agent.token, body: { runner_executor_public_id: null } }));
    expect(outcome(await accept(one, agent, within, [defaultRoute]))).toBe('422 runner_target_required');
    // what was accepted has not moved
    expect(
      (await tasksOf(agent, within)).map(
        (task) => (task['target'] as { executor_public_id: string }).executor_public_id,
      ),
    ).toEqual([runner.id, other.id]);
  });

  it('runs runners_list in the kernel at acceptance, from the frozen candidates', async () => {
    const candidate = await newRunner(one, account, { display_name: 'Frozen box' });
    await announce(one, candidate, [tool('read')], { environment: { os: 'linux', z: 1, a: 2 } });
    const configuration = {
      kernel_tools: ['nexus.runners.list'],
      runner_executor_public_ids: [candidate.id],
    };
    const run = await newRun(one, agent, candidate, { configuration });
    await announce(one, candidate, [tool('read')], { environment: { os: 'changed' } });
    const task = taskOf(await accept(one, agent, run, [callStep('runners_list')]));
    const listed = {
      current_runner_executor_public_id: candidate.id,
      runners: [
        {
          runner_executor_public_id: candidate.id,
          display_name: 'Frozen box',
          environment: { os: 'linux', z: 1, a: 2 },
        },
      ],
    };
    expect(task).toMatchObject({
      status: 'completed',
      tool_name: 'runners_list',
      addressed_to: { role: 'kernel' },
      structured_content: listed,
      is_error: false,
    });
    expect(JSON.parse(task['content'] as string)).toEqual(listed);
    expect(task).not.toHaveProperty('target');
    expect(task).not.toHaveProperty('deadline_at');
    for (const name of ['runners_list', 'nexus.runners.list']) {
      expect(taskOf(await accept(one, agent, run, [toolStep(name)]))).toMatchObject({
        status: 'completed',
        tool_name: 'runners_list',
      });
    }
  });

  it('goes by a bare name to the declaring agent’s application, else to the pool, and never looks at runners', async () => {
    const author = await newAgent(one, account, { approval_floor: 'bypass' });
    const run = await newRun(one, author, runner);
    const name = `send_${newId().slice(-12)}`;
    await announce(one, runner, [
      tool('read', { timeout_ms: 5_000 }),
      tool('bash', { effect_profile: WRITE }),
      { name: 'files_bytes', effect_profile: READ_ONLY },
      tool(name),
    ]);
    expect(outcome(await accept(one, author, run, [toolStep(name)]))).toBe('422 tool_not_served');
    const member = await provider();
    await announce(one, member, [tool(name)]);
    const pooled = taskOf(await accept(one, author, run, [toolStep(name)]));
    expect(pooled['addressed_to']).toEqual({ role: 'tool_provider' });
    expect(pooled).not.toHaveProperty('target');
    const own = await application(author.id);
    await announce(one, own, [tool('something_else')]);
    expect(taskOf(await accept(one, author, run, [toolStep(name)]))['addressed_to']).toEqual({
      role: 'tool_provider',
    });
    await announce(one, own, [tool(name)]);
    const owned = taskOf(await accept(one, author, run, [toolStep(name)]));
    expect(owned['addressed_to']).toEqual({ role: 'agent_application', executor_public_id: own.id });
    expect(owned).not.toHaveProperty('target');
    // another agent's calls do not reach it
    expect(
      taskOf(await accept(one, agent, await newRun(one, agent, null), [toolStep(name)]))['addressed_to'],
    ).toEqual({
      role: 'tool_provider',
    });
    ok(await executorVerb(own, 'shutdown'));
    expect(outcome(await accept(one, author, run, [toolStep(name)]))).toBe('422 tool_not_served');
    ok(await executorVerb(member, 'revoke'));
    expect(outcome(await accept(one, agent, await newRun(one, agent, null), [toolStep(name)]))).toBe(
      '422 tool_not_served',
    );
  });

  it('takes in a pool the worst profile that a provider announced', async () => {
    const name = `pooled_${newId().slice(-12)}`;
    const [calm, wild] = [await provider(), await provider()];
    await announce(one, calm, [tool(name, { timeout_ms: 1_000 })]);
    await announce(one, wild, [tool(name, { effect_profile: WRITE, timeout_ms: 9_000 })]);
    const run = await newRun(one, agent, null);
    expect(taskOf(await accept(one, agent, run, [toolStep(name)]))).toMatchObject({
      effect_profile: WRITE,
      timeout_ms: 9_000,
    });
  });

  it('is refused with the exact code', async () => {
    const run = await newRun(one, agent, runner);
    const unknown = newId();
    const stranger = await newRunner(one, await secondAccount(one));
    const silent = await newRunner(one, account);
    const leaving = await newRunner(one, account);
    const revoked = await newRunner(one, account);
    const owner = await newHuman(one, account);
    const hidden = await newRunner(one, account, {
      manager_public_id: owner.id,
      assignment_scope: 'user_private',
    });
    for (const each of [stranger, leaving, revoked, hidden]) await announce(one, each, [tool('read')]);
    ok(await executorVerb(leaving, 'shutdown'));
    ok(await executorVerb(revoked, 'revoke'));
    const appOnly = await application(agent.id);
    await announce(one, appOnly, [tool('read')]);
    const cases: [string, object][] = [
      ['422 tool_not_declared', callStep('nothing')],
      ['422 runner_not_eligible', toolStep('read', unknown)],
      ['422 runner_not_eligible', toolStep('read', stranger)],
      ['422 runner_not_eligible', toolStep('read', leaving)],
      ['422 runner_not_eligible', toolStep('read', revoked)],
      ['422 runner_not_eligible', toolStep('read', hidden)],
      ['422 runner_not_eligible', toolStep('nothing', hidden)],
      ['422 runner_not_eligible', toolStep('read', appOnly)],
      ['422 tool_not_served', toolStep('nothing', runner)],
      ['422 tool_not_served', toolStep('read', silent)],
      ['422 invalid_tool_route', toolStep('read', undefined, { route: null })],
      [
        '422 invalid_tool_route',
        toolStep('read', undefined, { route: { kind: 'runner', runner_executor_public_id: null } }),
      ],
      ['422 tool_not_served', toolStep('memory_read')],
      ['403 person_required', toolStep('files_bytes', runner)],
      ['422 invalid_timeout_ms', toolStep('read', runner, { timeout_ms: 0 })],
      ['422 invalid_timeout_ms', toolStep('read', runner, { timeout_ms: 3_600_001 })],
      ['422 validation_failed', toolStep('read', runner, { key: '-' })],
      ['422 validation_failed', toolStep('read', runner, { input: [] })],
      ['400 parameter_missing', { tool: { name: 'read' } }],
    ];
    for (const [expected, step] of cases) {
      expect(`${outcome(await accept(one, agent, run, [step]))} ${JSON.stringify(step)}`).toBe(
        `${expected} ${JSON.stringify(step)}`,
      );
    }
    expect(
      outcome(
        await accept(one, agent, await newRun(one, agent, null), [
          toolStep('read', undefined, { route: { kind: 'runner' } }),
        ]),
      ),
    ).toBe('422 runner_target_required');
    expect(outcome(await one.http('POST', `${RUNS}/${run}/tasks`, { token: agent.token, body: {} }))).toBe(
      '400 parameter_missing',
    );
    expect(await tasksOf(agent, run)).toEqual([]);
    ok(await executorVerb(appOnly, 'revoke'));
  });

  it('takes an operator capability from a person, granted whatever the mode', async () => {
    const run = await newRun(one, admin, runner, { approval_mode: 'ask' });
    const task = taskOf(await accept(one, admin, run, [toolStep('files_bytes', runner)]));
    expect(task).toMatchObject({
      status: 'dispatched',
      approval: { origin: 'human', decided_by: account.adminId, decided_at: expect.any(String) },
    });
  });

  it('lets who adds a call to another’s run reach only what is their own to reach', async () => {
    const owner = await newHuman(one, account);
    const ward = await newAgent(one, account, { steward_public_id: owner.id, approval_floor: 'bypass' });
    const hidden = await newRunner(one, account, {
      manager_public_id: owner.id,
      assignment_scope: 'user_private',
    });
    await announce(one, hidden, [tool('read')]);
    const run = await newRun(one, ward, hidden);
    expect(outcome(await accept(one, ward, run, [callStep('read')]))).toBe('201');
    expect(outcome(await accept(one, owner, run, [callStep('read')]))).toBe('201');
    expect(outcome(await accept(one, admin, run, [callStep('read')]))).toBe('422 runner_not_eligible');
  });

  it('waits for an offline but eligible runner', async () => {
    const silent = await newRunner(one, account);
    await announce(one, silent, [tool('read')]);
    const run = await newRun(one, agent, silent);
    expect(taskOf(await accept(one, agent, run, [callStep('read')]))).toMatchObject({ status: 'dispatched' });
  });
});

describe('What is accepted is frozen', () => {
  it('and a later announcement changes nothing of it', async () => {
    const box = await newRunner(one, account);
    await announce(one, box, [tool('read', { timeout_ms: 1_000 })]);
    const run = await newRun(one, agent, box);
    const before = taskOf(await accept(one, agent, run, [callStep('read', { key: 'k' })]));
    await announce(one, box, [
      tool('read', { timeout_ms: 2_000, effect_profile: WRITE, description: 'Changed' }),
    ]);
    const { task } = ok(await one.http('GET', `${RUNS}/${run}/tasks/k`, { token: agent.token })).body as {
      task: TaskBody;
    };
    expect(task).toEqual(before);
    const shown = ok(await one.http('GET', `${RUNS}/${run}`, { token: agent.token })).body as {
      run: { tool_definitions: { function: { description: string } }[] };
    };
    expect(shown.run.tool_definitions[0]?.function.description).toBe('The tool read');
    // future addressing follows the announcement
    expect(taskOf(await accept(one, agent, run, [callStep('read')]))).toMatchObject({
      timeout_ms: 2_000,
      effect_profile: WRITE,
    });
    await announce(one, box, []);
    expect(outcome(await accept(one, agent, run, [callStep('read')]))).toBe('422 tool_not_served');
  });

  it('by what is announced, also where this node still remembers what was', async () => {
    const box = await newRunner(one, account);
    await announce(one, box, [tool('read')]);
    const run = await newRun(one, agent, box, { approval_mode: 'ask' });
    const directory = one.app.get(AnnouncementDirectory);
    const old = await directory.get(box.id);
    await announce(one, box, [tool('read', { effect_profile: WRITE })]);
    // the event is late: the first looks find the old announcement
    const real = directory.get.bind(directory);
    let looks = 0;
    directory.get = (id) => ((looks += 1) <= 3 ? Promise.resolve(old) : real(id));
    try {
      expect(taskOf(await accept(one, agent, run, [callStep('read')]))).toMatchObject({
        status: 'needs_approval',
        effect_profile: WRITE,
      });
      expect(looks).toBe(4);
    } finally {
      directory.get = real;
    }
  });

  it('with its policy: the steward’s later rules change no run that is there', async () => {
    const author = await newAgent(one, account, { approval_floor: 'bypass' });
    const run = await newRun(one, author, runner);
    ok(
      await one.http('PATCH', `/platform_api/v1/agents/${author.id}`, {
        token: account.platformToken,
        body: { approval_rules: [{ tool: 'bash', verdict: 'deny', reason: 'no shells' }] },
      }),
    );
    expect(taskOf(await accept(one, author, run, [callStep('bash')]))).toMatchObject({
      status: 'dispatched',
    });
    const later = await newRun(one, author, runner);
    expect(taskOf(await accept(one, author, later, [callStep('bash')]))).toMatchObject({
      status: 'failed',
      error: { key: 'approval_denied', detail: 'no shells' },
      approval: { origin: 'rule' },
      settled_at: expect.any(String),
    });
  });
});

describe('Approval at acceptance', () => {
  it('makes a write rest in mode ask for 24 hours, undelivered', async () => {
    const run = await newRun(one, agent, runner, { approval_mode: 'ask' });
    const task = taskOf(await accept(one, agent, run, [callStep('bash')]));
    expect(task['status']).toBe('needs_approval');
    expect(task).not.toHaveProperty('approval');
    expect(task).not.toHaveProperty('started_at');
    const { accepted_at, deadline_at } = task as unknown as { accepted_at: string; deadline_at: string };
    expect(Date.parse(deadline_at) - Date.parse(accepted_at)).toBe(24 * 60 * 60 * 1000);
    expect(taskOf(await accept(one, agent, run, [callStep('read')]))['status']).toBe('dispatched');
  });

  it('is the body’s mode, else the profile’s, else the agent’s floor; a human’s own run is bypass', async () => {
    const strict = await newAgent(one, account);
    const modeOf = async (member: TestMember, body: object): Promise<string> =>
      (
        ok(await createRun(member, { default_runner_executor_public_id: null, ...body })).body as {
          run: { approval_mode: string };
        }
      ).run.approval_mode;
    expect(await modeOf(strict, {})).toBe('ask');
    expect(await modeOf(agent, {})).toBe('bypass');
    expect(await modeOf(agent, { configuration: { approval_mode: 'rules' } })).toBe('rules');
    ok(
      await one.http('PUT', '/agent_api/v1/profile/configuration', {
        token: agent.token,
        body: { approval_mode: 'ask' },
      }),
    );
    expect(await modeOf(agent, {})).toBe('ask');
    expect(await modeOf(agent, { approval_mode: 'rules' })).toBe('rules');
    ok(await one.http('PUT', '/agent_api/v1/profile/configuration', { token: agent.token, body: {} }));
    expect(await modeOf(admin, {})).toBe('bypass');
    expect(await modeOf(admin, { approval_mode: 'ask' })).toBe('ask');
    for (const approval_mode of ['bypass', 'rules']) {
      expect(outcome(await createRun(strict, { approval_mode }))).toBe('403 approval_floor');
    }
    expect(outcome(await createRun(strict, { approval_mode: 'later' }))).toBe('422 validation_failed');
    expect(outcome(await createRun(strict, { approval_rules: [{ tool: '' }] }))).toBe(
      '422 validation_failed',
    );
  });

  it('reads the run’s rules, frozen and shown as they were sent', async () => {
    const rules =
      '[ {"tool":"bash", "path":"command","match":"ls*", "verdict":"allow"},{"tool":"read","verdict":"deny"} ]';
    const body = `{"approval_mode":"rules","approval_rules":${rules},"default_runner_executor_public_id":"${runner.id}",
      "configuration":{"runner_executor_public_ids":["${runner.id}"]}}`;
    const made = await one.http('POST', RUNS, { token: agent.token, body });
    expect(made.status).toBe(201);
    expect(made.text).toContain(`"approval_rules":${rules}`);
    const run = (made.body as { run: { public_id: string } }).run.public_id;
    const statuses = async (...steps: object[]): Promise<string[]> =>
      (ok(await accept(one, agent, run, steps)).body as { tasks: TaskBody[] }).tasks.map(
        ({ status }) => status,
      );
    expect(
      await statuses(
        callStep('bash', { input: { command: 'ls -l' } }),
        callStep('bash', { input: { command: 'rm' } }),
        callStep('read'),
      ),
    ).toEqual(['dispatched', 'needs_approval', 'failed']);
  });
});

describe('Acceptance', () => {
  it('takes up to 64 steps, in their order, all or none', async () => {
    const run = await newRun(one, agent, runner);
    const steps = Array.from({ length: 64 }, (_, index) =>
      callStep('read', { key: `k${index}`, input: { index } }),
    );
    const { tasks } = ok(await accept(one, agent, run, steps)).body as { tasks: TaskBody[] };
    expect(tasks.map(({ task_key }) => task_key)).toEqual(steps.map((_, index) => `k${index}`));
    expect((await tasksOf(agent, run)).map(({ task_key }) => task_key)).toEqual(
      tasks.map(({ task_key }) => task_key),
    );
    expect(outcome(await accept(one, agent, run, [...steps, callStep('read')]))).toBe(
      '422 validation_failed',
    );
    const other = await newRun(one, agent, runner);
    const mixed = [callStep('read', { key: 'a' }), callStep('nothing'), callStep('read', { key: 'b' })];
    expect(outcome(await accept(one, agent, other, mixed))).toBe('422 tool_not_declared');
    expect(outcome(await accept(one, agent, other, [callStep('read'), toolStep('read', newId())]))).toBe(
      '422 runner_not_eligible',
    );
    expect(await tasksOf(agent, other)).toEqual([]);
  });

  it('writes nothing where only the statement finds one of the runners ineligible', async () => {
    const box = await newRunner(one, account);
    await announce(one, box, [tool('read')]);
    const run = await newRun(one, agent, runner);
    // this node still knows what it announces: the look-up presumes it eligible
    ok(await executorVerb(box, 'shutdown'));
    for (const steps of [
      [toolStep('read', box)],
      [toolStep('read', runner), toolStep('read', box)],
      [toolStep('read', box), toolStep('read', runner)],
    ]) {
      const answer = await accept(one, agent, run, steps);
      expect(outcome(answer)).toBe('422 runner_not_eligible');
    }
    expect(await tasksOf(agent, run)).toEqual([]);
  });

  it('mints a key where none is given', async () => {
    const run = await newRun(one, agent, runner);
    const { tasks } = ok(await accept(one, agent, run, [callStep('read'), callStep('read')])).body as {
      tasks: TaskBody[];
    };
    const keys = tasks.map(({ task_key }) => task_key);
    expect(new Set(keys).size).toBe(2);
    for (const key of keys) expect(key).toMatch(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/);
  });

  it('gives a key to one of many who race for it, on two nodes; the others find it taken', async () => {
    const run = await newRun(one, agent, runner);
    const racers = Array.from({ length: 16 }, (_, index) =>
      accept(index % 2 === 0 ? one : two, agent, run, [callStep('read', { key: 'same', input: { index } })]),
    );
    const outcomes = (await Promise.all(racers)).map(outcome).sort();
    expect(outcomes).toEqual(['201', ...Array<string>(15).fill('409 key_taken')]);
    expect(await tasksOf(agent, run)).toHaveLength(1);
  });

  it('says which key is taken, and takes none of the others', async () => {
    const run = await newRun(one, agent, runner);
    ok(await accept(one, agent, run, [callStep('read', { key: 'b' })]));
    const answer = await accept(one, agent, run, [
      callStep('read', { key: 'a' }),
      callStep('read', { key: 'b' }),
    ]);
    expect(outcome(answer)).toBe('409 key_taken');
    expect((answer.body as { error: { message: string } }).error.message).toContain('the key b');
    expect(await tasksOf(agent, run)).toHaveLength(1);
  });

  it('passes an input on byte for byte', async () => {
    const run = await newRun(one, agent, runner);
    const inputs = [
      '{ "z" : 1.0, "a":[1e2 ,-0.0],"\\u00e9":"é\\n\\\\u0000", "a":12345678901234567890 }',
      '{"nul":"\\u0000","lone":"\\ud800","pair":"\\ud83d\\ude00"}',
      '{"__proto__":{"a":1},"constructor":null}',
      '{\n\t"multi":\r\n  "line"\n}',
    ];
    for (const [index, input] of inputs.entries()) {
      const body = `{"steps":[{"call":{"name":"read","key":"k${index}","input":${input}}}]}`;
      const answer = await one.http('POST', `${RUNS}/${run}/tasks`, { token: agent.token, body });
      expect(answer.status).toBe(201);
      expect(answer.text).toContain(`"tool_input":${input},`);
      const read = await two.http('GET', `${RUNS}/${run}/tasks/k${index}`, { token: agent.token });
      expect(read.text).toContain(`"tool_input":${input},`);
    }
  });

  it('bounds an input at 256 KiB', async () => {
    const run = await newRun(one, agent, runner);
    const ofBytes = (bytes: number): object =>
      callStep('read', { input: { a: 'x'.repeat(bytes - '{"a":""}'.length) } });
    expect(outcome(await accept(one, agent, run, [ofBytes(256 * 1024)]))).toBe('201');
    expect(outcome(await accept(one, agent, run, [ofBytes(256 * 1024 + 1)]))).toBe('422 validation_failed');
  });

  it('takes the step’s deadline, which may exceed the announced one', async () => {
    const run = await newRun(one, agent, runner);
    const timeout = async (name: string, timeout_ms?: number): Promise<number> =>
      taskOf(await accept(one, agent, run, [callStep(name, timeout_ms === undefined ? {} : { timeout_ms })]))
        .timeout_ms;
    expect(await timeout('read', 1)).toBe(1);
    expect(await timeout('read', 3_600_000)).toBe(3_600_000);
    expect(await timeout('read')).toBe(5_000);
    expect(await timeout('bash')).toBe(120_000);
  });

  it('answers repeats under one Idempotency-Key with the first answer, in parallel on two nodes', async () => {
    const run = await newRun(one, agent, runner);
    const headers = { 'idempotency-key': newId() };
    const steps = [callStep('read'), callStep('read')];
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        accept(index % 2 === 0 ? one : two, agent, run, steps, headers),
      ),
    );
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers.filter((answer) => answer.headers['idempotency-replayed'] === 'true')).toHaveLength(9);
    expect(await tasksOf(agent, run)).toHaveLength(2);
    expect(outcome(await accept(one, agent, run, [callStep('read')], headers))).toBe(
      '409 idempotency_conflict',
    );
    const other = await newRun(one, agent, runner);
    expect(outcome(await accept(one, agent, other, steps, headers))).toBe('409 idempotency_conflict');
  });

  it('is one statement for one step of a known run', async () => {
    const run = await newRun(one, agent, runner);
    ok(await accept(one, agent, run, [callStep('read')]));
    const pools = [one.db.pool, one.app.get(KeyedDatabase).pool];
    const statements: unknown[] = [];
    const restore = pools.map((pool) => {
      const real = pool.query.bind(pool) as (...parameters: unknown[]) => unknown;
      pool.query = ((...parameters: unknown[]) => {
        statements.push((parameters[0] as { name?: string }).name);
        return real(...parameters);
      }) as typeof pool.query;
      return () => (pool.query = real as typeof pool.query);
    });
    try {
      ok(await accept(one, agent, run, [callStep('read')]));
    } finally {
      for (const undo of restore) undo();
    }
    // what a node does by itself, whoever calls, is no part of the call
    const ofTheCall = statements.filter(
      (name) => !/^(work_sweep|presence_|credential_sample|retention_|prune_)/.test(String(name)),
    );
    expect(ofTheCall).toEqual(['accept_tasks']);
  });

  it('refuses a credential that was revoked, also where this node still remembers it', async () => {
    const member = await withToken(one, account, agent.id);
    const run = await newRun(one, member, runner);
    ok(await accept(one, member, run, [callStep('read')]));
    await one.db.pool.query('update credentials set revoked_at = now() where id = $1', [member.credentialId]);
    expect(outcome(await accept(one, member, run, [callStep('read')]))).toBe('401 unauthorized');
  });
});

describe('A new run', () => {
  it('is made with its steps or not at all', async () => {
    const body = {
      default_runner_executor_public_id: runner.id,
      configuration: { runner_executor_public_ids: [runner.id] },
    };
    const { run } = ok(await createRun(agent, { ...body, steps: [callStep('read', { key: 'a' })] })).body as {
      run: { public_id: string; status: string };
    };
    expect(run.status).toBe('open');
    expect((await tasksOf(agent, run.public_id)).map(({ task_key }) => task_key)).toEqual(['a']);
    const count = async (): Promise<string> =>
      (await one.db.pool.query<{ count: string }>('select count(*) from runs')).rows[0]?.count ?? '';
    const before = await count();
    expect(outcome(await createRun(agent, { ...body, steps: [callStep('nothing')] }))).toBe(
      '422 tool_not_declared',
    );
    expect(await count()).toBe(before);
  });

  it('is one run for parallel repeats under one Idempotency-Key', async () => {
    const headers = { 'idempotency-key': newId() };
    const body = { default_runner_executor_public_id: null, configuration: {} };
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) => createRun(agent, body, headers, index % 2 === 0 ? one : two)),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array<number>(8).fill(201));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers.filter((answer) => answer.headers['idempotency-replayed'] === 'true')).toHaveLength(7);
    expect(outcome(await createRun(agent, { ...body, approval_mode: 'ask' }, headers))).toBe(
      '409 idempotency_conflict',
    );
  });

  it('is refused what assembly refuses', async () => {
    expect(outcome(await createRun(agent, { default_runner_executor_public_id: newId() }))).toBe(
      '422 runner_not_declared',
    );
    const body = { default_runner_executor_public_id: newId() };
    expect(
      outcome(
        await createRun(agent, {
          ...body,
          configuration: { runner_executor_public_ids: [body.default_runner_executor_public_id] },
        }),
      ),
    ).toBe('422 runner_not_eligible');
    expect(outcome(await createRun(agent, { configuration: 7 }))).toBe('400 parameter_missing');
    expect(outcome(await createRun(agent, { default_runner_executor_public_id: 'x' }))).toBe(
      '422 validation_failed',
    );
    expect(outcome(await createRun(agent, { tool_names: ['a'] }))).toBe('422 validation_failed');
  });

  it('shares one stored declaration with every run that received the same', async () => {
    const digests = async (): Promise<number> =>
      Number(
        (await one.db.pool.query<{ count: string }>('select count(*) from declarations')).rows[0]?.count,
      );
    await newRun(one, agent, runner);
    const before = await digests();
    await Promise.all(
      Array.from({ length: 6 }, (_, index) => newRun(index % 2 === 0 ? one : two, agent, runner)),
    );
    expect(await digests()).toBe(before);
  });
});

describe('A continuation', () => {
  it('reaches what its parent declares, and no more', async () => {
    const parent = await newRun(one, agent, runner);
    const { run } = ok(await createRun(agent, { parent_run_public_id: parent, tool_names: ['read'] }))
      .body as {
      run: {
        public_id: string;
        parent_run_public_id: string;
        tool_definitions: { function: { name: string } }[];
      };
    };
    expect(run.parent_run_public_id).toBe(parent);
    expect(run.tool_definitions.map((definition) => definition.function.name)).toEqual(['read']);
    expect(outcome(await accept(one, agent, run.public_id, [callStep('read')]))).toBe('201');
    expect(outcome(await accept(one, agent, run.public_id, [callStep('bash')]))).toBe(
      '422 tool_not_declared',
    );
    expect(outcome(await accept(one, agent, run.public_id, [toolStep('read', runner)]))).toBe('201');
    expect(outcome(await accept(one, agent, run.public_id, [toolStep('bash', runner)]))).toBe(
      '422 route_mismatch',
    );
    expect(outcome(await accept(one, agent, run.public_id, [toolStep('runners_list')]))).toBe(
      '422 route_mismatch',
    );
  });

  it('keeps what its parent froze, whatever is announced since', async () => {
    const box = await newRunner(one, account);
    await announce(one, box, [tool('read', { description: 'Then' })]);
    const parent = await newRun(one, agent, box);
    await announce(one, box, [tool('read', { description: 'Now' })]);
    const { run } = ok(await createRun(agent, { parent_run_public_id: parent })).body as {
      run: {
        tool_definitions: { function: { description: string } }[];
        default_runner_executor_public_id: string;
      };
    };
    expect(run.tool_definitions[0]?.function.description).toBe('Then');
    expect(run.default_runner_executor_public_id).toBe(box.id);
  });

  it('is refused whatever would add or retarget', async () => {
    const other = await newRunner(one, account);
    const parent = await newRun(one, agent, runner, { approval_mode: 'rules' });
    const bodies = [
      { configuration: {} },
      { default_runner_executor_public_id: other.id },
      { default_runner_executor_public_id: null },
      { approval_mode: 'bypass' },
      { approval_rules: [] },
      { tool_names: ['nothing'] },
    ];
    for (const body of bodies) {
      expect(outcome(await createRun(agent, { parent_run_public_id: parent, ...body }))).toBe(
        '422 route_mismatch',
      );
    }
    expect(outcome(await createRun(agent, { parent_run_public_id: parent, approval_mode: 'ask' }))).toBe(
      '201',
    );
  });

  it('has the principal of its parent', async () => {
    const parent = await newRun(one, agent, runner);
    const stranger = await newAgent(one, account);
    for (const member of [stranger, admin]) {
      expect(outcome(await createRun(member, { parent_run_public_id: parent }))).toBe('404 not_found');
    }
    expect(outcome(await createRun(agent, { parent_run_public_id: newId() }))).toBe('404 not_found');
  });

  it('of a pruned parent is refused', async () => {
    const parent = await newRun(one, agent, runner);
    await one.db.pool.query(
      'update runs set details_pruned_at = now(), declaration_digest = null where id = $1',
      [parent],
    );
    expect(outcome(await createRun(agent, { parent_run_public_id: parent }))).toBe(
      '410 execution_details_pruned',
    );
  });
});
