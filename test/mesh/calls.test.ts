import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '../../src/db/ids.js';
import { accept, callStep, outcome, taskOf, toolStep } from '../routing/stage.js';
import {
  announce,
  firstAccount,
  newAgent,
  newExecutor,
  newHuman,
  newRun,
  newRunner,
  ok,
  onBus,
  type TestAccount,
  type TestExecutor,
  type TestMember,
  tool,
  WRITE,
} from '../support/factories.js';
import { type HttpAnswer, TestNode } from '../support/node.js';
import { claimed, parked, pastDeadline, restDoor, taskNow } from '../work/stage.js';
import { consoleRun, meshCall, taskOfCall } from './console-doors.js';

let one: TestNode;
let two: TestNode;
let account: TestAccount;
let steward: TestMember;
let agent: TestMember;
/** On the machine `box`: `look` and `reboot`, which is for people. Nobody of these answers on the bus. */
let box: TestExecutor;

beforeAll(async () => {
  one = await TestNode.start();
  two = await TestNode.start({}, one);
  account = await firstAccount(one);
  steward = await newHuman(one, account);
  agent = await newAgent(one, account, { steward_public_id: steward.id, approval_floor: 'bypass' });
  box = await newRunner(one, account, { machine: 'box', modules: ['work'] });
  await announce(one, box, [
    tool('look', { timeout_ms: 20_000 }),
    tool('change', { effect_profile: WRITE }),
    { name: 'reboot', effect_profile: WRITE },
  ]);
});

afterAll(async () => {
  await two?.close();
  await one?.close();
});

/** Works the next call that is addressed to the runner. */
async function work(executor: TestExecutor, content = 'done'): Promise<void> {
  const door = restDoor(one, executor);
  for (;;) {
    const { tasks } = (await door.ask('inbox')).body;
    if (tasks.length > 0) {
      const { run_public_id, task_key } = tasks[0];
      const claim_token = await claimed(door, { run_public_id, task_key });
      await door.ask('commit', { run_public_id, task_key, claim_token, content });
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const provider = async (modules: string[], tools: object[]): Promise<TestExecutor> => {
  const name = `provider-${newId()}`;
  const executor = await newExecutor(one, account, {
    kind: 'tool_provider',
    display_name: name,
    manager_public_id: account.adminId,
    registration_identifier: name,
    assignment_scope: 'account_wide',
    modules,
  });
  await announce(one, executor, tools);
  return executor;
};

const freshName = (): string => `n${newId().slice(-12)}`;

describe('POST /agent_api/v1/mesh/call', () => {
  it('is an ordinary accepted call to that instance, in a new run, and answers its task', async () => {
    const [task] = await Promise.all([
      taskOfCall(one, agent, { address: 'work@box/look', input: { path: '.' } }),
      work(box, 'what is there'),
    ]);
    expect(task).toMatchObject({
      kind: 'tool_call',
      tool_name: 'look',
      tool_input: { path: '.' },
      status: 'completed',
      content: 'what is there',
      target: { executor_public_id: box.id },
      addressed_to: { role: 'runner', executor_public_id: box.id },
      claimed_by: { executor_public_id: box.id },
      timeout_ms: 20_000,
    });
    const { body } = ok(
      await one.http('GET', `/agent_api/v1/runs/${task.run_public_id}/tasks`, { token: agent.token }),
    );
    expect(body.tasks).toHaveLength(1);
  });

  it('in a run that is named, with the timeout that is named', async () => {
    const run = await newRun(one, agent, null);
    const [task] = await Promise.all([
      taskOfCall(one, agent, {
        address: 'work@box/look',
        input: {},
        timeout_ms: 9_000,
        run_public_id: run,
      }),
      work(box),
    ]);
    expect(task).toMatchObject({ run_public_id: run, timeout_ms: 9_000, status: 'completed' });
  });

  it('waits for a runner that answers nowhere until the deadline: presence decides nothing', async () => {
    const task = await taskOfCall(one, agent, { address: 'work@box/look', input: {}, timeout_ms: 300 });
    expect(task).toMatchObject({ status: 'timed_out', addressed_to: { executor_public_id: box.id } });
  });

  it('rests for a person as any call, and then goes to the same instance', async () => {
    const careful = await newAgent(one, account, { steward_public_id: steward.id });
    const run = await newRun(one, careful, null);
    const body = { address: 'work@box/change', input: {}, run_public_id: run, wait_ms: 0 };
    const task = await taskOfCall(one, careful, body);
    expect(task).toMatchObject({ status: 'needs_approval', effect_profile: WRITE });
    const path = `/agent_api/v1/runs/${run}/tasks/${task.task_key}`;
    ok(await one.http('POST', `${path}/approve`, { token: steward.token }));
    await work(box);
    expect(await taskNow(one, careful, task, 5_000)).toMatchObject({
      status: 'completed',
      claimed_by: { executor_public_id: box.id },
    });
  });

  it('is safe to repeat by its Idempotency-Key', async () => {
    const run = await newRun(one, agent, null);
    const body = { address: 'work@box/look', input: {}, run_public_id: run, wait_ms: 0 };
    const headers = { 'idempotency-key': newId() };
    const [first, second] = [
      await taskOfCall(one, agent, body, headers),
      await taskOfCall(two, agent, body, headers),
    ];
    expect(second.task_key).toBe(first.task_key);
    expect(outcome(await meshCall(one, agent, { ...body, timeout_ms: 5 }, headers))).toBe(
      '409 idempotency_conflict',
    );
    await work(box);
  });

  it.each([
    ['400 parameter_missing', {}],
    ['400 parameter_missing', { address: 'work@box/look' }],
    ['422 validation_failed', { address: 'look', input: {} }],
    ['422 validation_failed', { address: 7, input: {} }],
    ['422 validation_failed', { address: 'work@box/look', input: [] }],
    ['422 invalid_timeout_ms', { address: 'work@box/look', input: {}, timeout_ms: 0 }],
    ['422 validation_failed', { address: 'work@box/look', input: {}, wait_ms: 60_001 }],
    ['404 not_found', { address: 'work@box/look', input: {}, run_public_id: newId() }],
    ['422 tool_not_served', { address: 'work@box/rm', input: {} }],
    ['422 tool_not_served', { address: 'work/rm', input: {} }],
    ['422 tool_not_served', { address: 'unknown/look', input: {} }],
    ['422 runner_not_eligible', { address: 'work@attic/look', input: {} }],
    ['422 runner_not_eligible', { address: 'other@box/look', input: {} }],
    ['403 person_required', { address: 'work@box/reboot', input: {} }],
  ])('is refused %s for %j', async (expected, body) => {
    expect(outcome(await meshCall(one, agent, body))).toBe(expected);
  });

  it('is refused an input that is too large', async () => {
    const input = { x: 'x'.repeat(300_000) };
    const answer = await meshCall(one, agent, { address: 'work@box/look', input });
    expect(outcome(answer)).toBe('422 validation_failed');
    expect(answer.body.error.message).toMatch(/^input is 300008 bytes/);
  });

  it('reaches nobody whom the caller is not eligible for', async () => {
    const other = await newHuman(one, account);
    const executor = await newRunner(one, account, {
      machine: 'theirs',
      manager_public_id: other.id,
      assignment_scope: 'user_private',
    });
    const name = freshName();
    await announce(one, executor, [tool(name)]);
    for (const address of [`tools@theirs/${name}`, `tools/${name}`]) {
      const { status, body } = await meshCall(one, agent, { address, input: {} });
      expect([status, JSON.stringify(body)]).toEqual([422, expect.not.stringContaining(executor.id)]);
    }
    const [task] = await Promise.all([
      taskOfCall(one, other, { address: `tools/${name}`, input: {} }),
      work(executor),
    ]);
    expect(task).toMatchObject({ status: 'completed', claimed_by: { executor_public_id: executor.id } });
  });

  it('in a run of another reaches only what both may reach', async () => {
    const executor = await newRunner(one, account, {
      manager_public_id: steward.id,
      assignment_scope: 'user_private',
    });
    const name = freshName();
    await announce(one, executor, [tool(name)]);
    const admin = await newHuman(one, account, { role: 'admin' });
    const run = await newRun(one, agent, null);
    const body = { address: `tools/${name}`, input: {}, run_public_id: run, wait_ms: 0 };
    expect(outcome(await meshCall(one, admin, body))).toBe('422 tool_not_served');
    expect(outcome(await meshCall(one, agent, body))).toBe('200');
  });
});

describe('An operator capability', () => {
  it('is reached by a human’s call, who has decided by calling, and by no agent on any door', async () => {
    const [task] = await Promise.all([
      taskOfCall(one, steward, { address: 'work@box/reboot', input: {} }),
      work(box),
    ]);
    expect(task).toMatchObject({
      status: 'completed',
      approval: { origin: 'human', decided_by: steward.id },
    });
    const run = await consoleRun(one, agent);
    const input = { address: 'work@box/reboot', input: {} };
    for (const step of [callStep('mesh_call', { input }), toolStep('mesh_call', undefined, { input })])
      expect(outcome(await accept(one, agent, run, [step]))).toBe('403 person_required');
    const bus = await onBus(agent);
    expect(await bus.ask('call', input)).toMatchObject({ status: 403, code: 'person_required' });
    await bus.close();
  });
});

describe('<module>/<tool>', () => {
  it('is enough where one eligible instance exists; otherwise the choices are listed', async () => {
    const [module, name] = [freshName(), freshName()];
    const [left, right] = [
      await newRunner(one, account, { modules: [module], machine: `${module}-a`, display_name: 'Left' }),
      await newRunner(one, account, { modules: [module], machine: `${module}-b`, display_name: 'Right' }),
    ];
    await announce(one, left, [tool(name)]);
    const call = (address = `${module}/${name}`): Promise<HttpAnswer> =>
      meshCall(one, agent, { address, input: {}, wait_ms: 0 });
    expect(ok(await call()).body.task).toMatchObject({ target: { executor_public_id: left.id } });
    await announce(one, right, [tool(name)]);
    const refused = await call();
    expect(outcome(refused)).toBe('422 ambiguous_address');
    expect(refused.body.error.details).toEqual([
      { address: `${module}@${module}-a/${name}`, executor_public_id: left.id, display_name: 'Left' },
      { address: `${module}@${module}-b/${name}`, executor_public_id: right.id, display_name: 'Right' },
    ]);
    for (const [index, { address }] of refused.body.error.details.entries()) {
      const expected = [left, right][index]?.id;
      expect(ok(await call(address)).body.task).toMatchObject({ target: { executor_public_id: expected } });
    }
    ok(
      await one.http('POST', `/platform_api/v1/executors/${left.id}/shutdown`, {
        token: account.platformToken,
      }),
    );
    expect(ok(await call()).body.task).toMatchObject({ target: { executor_public_id: right.id } });
  });

  it('lists twenty choices at most', async () => {
    const [module, name] = [freshName(), freshName()];
    for (let index = 0; index < 22; index += 1) {
      const executor = await newRunner(one, account, { modules: [module], machine: `${module}-${index}` });
      await announce(one, executor, [tool(name)]);
    }
    const { body } = await meshCall(one, agent, { address: `${module}/${name}`, input: {} });
    expect(body.error).toMatchObject({ message: 'address may mean 22 instances' });
    expect(body.error.details).toHaveLength(20);
  });

  it('of an interchangeable module is a pool call, and a machine may not be named', async () => {
    const [module, name] = [freshName(), freshName()];
    const members = [await provider([module], [tool(name)]), await provider([module], [tool(name)])];
    const [task] = await Promise.all([
      taskOfCall(one, agent, { address: `${module}/${name}`, input: {} }),
      work(members[1] as TestExecutor),
    ]);
    expect(task).toMatchObject({
      status: 'completed',
      addressed_to: { role: 'tool_provider' },
      claimed_by: { executor_public_id: members[1]?.id },
    });
    const { rows } = await one.db.pool.query<{ machine: string }>(
      'select machine from executors where id = $1',
      [members[0]?.id],
    );
    const refused = await meshCall(one, agent, {
      address: `${module}@${rows[0]?.machine}/${name}`,
      input: {},
    });
    expect(outcome(refused)).toBe('422 invalid_tool_route');
    expect(refused.body.error.message).toContain(`${module}/${name}`);
  });

  it('of a pool that another module’s providers would serve as well is ambiguous', async () => {
    const [module, other, name] = [freshName(), freshName(), freshName()];
    await provider([module], [tool(name)]);
    await provider([other], [tool(name)]);
    const refused = await meshCall(one, agent, { address: `${module}/${name}`, input: {} });
    expect(outcome(refused)).toBe('422 ambiguous_address');
    expect(refused.body.error.details).toEqual([
      { address: `${module}/${name}` },
      { address: `${other}/${name}` },
    ]);
  });

  it('goes to the pool and not to the agent’s own application of the same name', async () => {
    const [module, name] = [freshName(), freshName()];
    const owner = await newAgent(one, account, { steward_public_id: steward.id, approval_floor: 'bypass' });
    const application = await newExecutor(one, account, {
      kind: 'agent_application',
      display_name: 'Own',
      agent_public_id: owner.id,
      modules: [`${module}-own`],
    });
    await announce(one, application, [tool(name)]);
    await provider([module], [tool(name)]);
    const roleOf = async (address: string): Promise<string> =>
      (await taskOfCall(one, owner, { address, input: {}, wait_ms: 0 })).addressed_to.role as string;
    expect(await roleOf(`${module}/${name}`)).toBe('tool_provider');
    expect(await roleOf(`${module}-own/${name}`)).toBe('agent_application');
  });
});

describe('On the bus', () => {
  it('the verb call takes an address as well', async () => {
    const bus = await onBus(agent);
    const [answer] = await Promise.all([
      bus.ask('call', { address: 'work@box/look', input: { a: 1 }, timeout_ms: 8_000 }),
      work(box),
    ]);
    expect(answer.body.task).toMatchObject({
      status: 'completed',
      tool_input: { a: 1 },
      timeout_ms: 8_000,
      target: { executor_public_id: box.id },
    });
    const both = { address: 'work@box/look', input: {}, step: toolStep('look', box) };
    expect(await bus.ask('call', both)).toMatchObject({ status: 422, code: 'validation_failed' });
    await bus.close();
  });
});

describe('mesh_call', () => {
  const input = { address: 'work@box/look', input: { path: '.' }, timeout_ms: 7_000 };

  it('becomes that call: one task under the step’s key, with target, profile and deadline of the called tool', async () => {
    const run = await consoleRun(one, agent);
    const step = callStep('mesh_call', { input, key: 'mine', tool_call_id: 'call_1', timeout_ms: 1_000 });
    const answer = await accept(one, agent, run, [step]);
    expect(answer.body.tasks).toHaveLength(1);
    const task = taskOf(answer);
    expect(task).toMatchObject({
      task_key: 'mine',
      tool_name: 'look',
      tool_call_id: 'call_1',
      tool_input: { path: '.' },
      timeout_ms: 7_000,
      effect_profile: expect.objectContaining({ kind: 'read_only' }),
      target: { executor_public_id: box.id },
    });
    expect(task).not.toHaveProperty('tool_alias');
    await work(box);
  });

  it('rests where the run asks for writes', async () => {
    const run = await consoleRun(one, agent, { approval_mode: 'ask' });
    const change = { address: 'work@box/change', input: {} };
    const task = taskOf(await accept(one, agent, run, [callStep('mesh_call', { input: change })]));
    expect(task).toMatchObject({ status: 'needs_approval', tool_name: 'change' });
  });

  it('is judged by the rules for the called tool and its input', async () => {
    const approval_rules = [{ tool: 'change', path: 'path', match: '/etc/*', verdict: 'deny', reason: 'No' }];
    const run = await consoleRun(one, agent, { approval_mode: 'rules', approval_rules });
    const denied = { address: 'work@box/change', input: { path: '/etc/passwd' } };
    const task = taskOf(await accept(one, agent, run, [callStep('mesh_call', { input: denied })]));
    expect(task).toMatchObject({ status: 'failed', error: { key: 'approval_denied', detail: 'No' } });
  });

  it('is reached through tool_call too', async () => {
    const configuration = { kernel_tools: ['nexus.tools.call', 'nexus.console.call'] };
    const run = await consoleRun(one, agent, { configuration });
    const through = callStep('tool_call', { input: { name: 'mesh_call', input } });
    expect(taskOf(await accept(one, agent, run, [through]))).toMatchObject({
      tool_name: 'look',
      target: { executor_public_id: box.id },
    });
    await work(box);
  });

  it('must be declared to be a model’s call, and adds nothing to a continuation', async () => {
    const plain = await newRun(one, agent, null);
    expect(outcome(await accept(one, agent, plain, [callStep('mesh_call', { input })]))).toBe(
      '422 tool_not_declared',
    );
    const parent = await consoleRun(one, agent);
    const child = ok(
      await one.http('POST', '/agent_api/v1/runs', {
        token: agent.token,
        body: { parent_run_public_id: parent },
      }),
    ).body.run.public_id as string;
    expect(outcome(await accept(one, agent, child, [callStep('mesh_call', { input })]))).toBe(
      '422 route_mismatch',
    );
  });

  it.each([
    ['400 parameter_missing', {}],
    ['400 parameter_missing', { address: 'work@box/look' }],
    ['422 validation_failed', { address: 'x', input: {} }],
    ['422 validation_failed', { address: 'work@box/look', input: 7 }],
    ['422 invalid_timeout_ms', { address: 'work@box/look', input: {}, timeout_ms: 'soon' }],
  ])('is refused %s for %j', async (expected, wrong) => {
    const run = await consoleRun(one, agent);
    const answer = await accept(one, agent, run, [callStep('mesh_call', { input: wrong })]);
    expect(outcome(answer)).toBe(expected);
    expect(answer.body.error.message).toMatch(/^steps\[0\]\.call\.input\./);
  });
});

describe('A kernel tool that looks beyond its run', () => {
  it('is accepted at once and answered when it has looked', async () => {
    const run = await consoleRun(one, agent);
    const task = taskOf(await accept(one, agent, run, [callStep('mesh_services')]));
    expect(task).toMatchObject({ status: 'dispatched', addressed_to: { role: 'kernel' } });
    const settled = await taskNow(two, agent, task, 10_000);
    expect(settled).toMatchObject({ status: 'completed', is_error: false });
    expect(settled.structured_content.services.length).toBeGreaterThan(0);
  });

  it('fails with the reason where it was asked wrongly', async () => {
    const run = await consoleRun(one, agent);
    const task = await parked(one, agent, run, callStep('mesh_tools', { input: { limit: 'many' } }));
    expect(await taskNow(one, agent, task, 10_000)).toMatchObject({
      status: 'failed',
      error: { key: 'tool_failed', detail: 'parameter_invalid: limit must be an integer from 1 to 200' },
    });
  });

  it('runs once a person lets it go', async () => {
    const approval_rules = [{ tool: 'mesh_*', verdict: 'ask' }];
    const run = await consoleRun(one, agent, { approval_mode: 'rules', approval_rules });
    const task = await parked(one, agent, run, callStep('mesh_machines'));
    expect(await taskNow(one, agent, task)).toMatchObject({ status: 'needs_approval' });
    const path = `/agent_api/v1/runs/${run}/tasks/${task.task_key}/approve`;
    ok(await two.http('POST', path, { token: steward.token }));
    expect(await taskNow(one, agent, task, 10_000)).toMatchObject({ status: 'completed' });
  });

  it('canceled before it has looked stays canceled', async () => {
    const run = await consoleRun(one, agent);
    const task = await parked(one, agent, run, callStep('mesh_machines'));
    ok(
      await one.http('POST', `/agent_api/v1/runs/${run}/tasks/${task.task_key}/cancel`, {
        token: agent.token,
      }),
    );
    await taskOfCall(one, agent, { address: 'work@box/look', input: {}, timeout_ms: 500 });
    expect(await taskNow(one, agent, task)).toMatchObject({ status: 'canceled' });
  });

  it('is run by another node where its own was lost, and settled once', async () => {
    const run = await consoleRun(one, agent);
    const task = await parked(one, agent, run, callStep('mesh_machines'));
    await taskNow(one, agent, task, 10_000);
    await one.db.pool.query(
      `update tasks set status = 'dispatched', started_at = now() - interval '11 seconds', settled_at = null,
         content = null, structured_content = null, is_error = null, deadline_at = now() + interval '1 minute'
       where run_id = $1 and task_key = $2`,
      [task.run_public_id, task.task_key],
    );
    const settled = await taskNow(two, agent, task, 15_000);
    expect(settled).toMatchObject({ status: 'completed', generation: 1 });
  });

  it('is timed out by the expiry rule where nobody ran it, and can be retried', async () => {
    const run = await consoleRun(one, agent);
    const task = await parked(one, agent, run, callStep('mesh_machines', { timeout_ms: 1 }));
    expect(await taskNow(one, agent, task, 10_000)).toMatchObject({
      status: 'timed_out',
      error: { key: 'tool_timeout' },
    });
    ok(
      await one.http('POST', `/agent_api/v1/runs/${run}/tasks/${task.task_key}/retry`, {
        token: agent.token,
      }),
    );
    await pastDeadline(one, task);
    expect(await taskNow(one, agent, task, 10_000)).toMatchObject({ status: 'timed_out', generation: 2 });
  });
});
