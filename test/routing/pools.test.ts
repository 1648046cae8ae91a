import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { AccountId } from '../../src/db/account-id.js';
import { newId } from '../../src/db/ids.js';
import { OVERRIDABLE_NAMES } from '../../src/kernel/reserved-names.js';
import { acceptTasks } from '../../src/routing/accept-tasks.sql.js';
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
  onBus,
  READ_ONLY,
  type TestAccount,
  type TestExecutor,
  type TestMember,
  tool,
  withToken,
  WRITE,
} from '../support/factories.js';
import { type HttpAnswer, TestNode } from '../support/node.js';
import { claimed, restDoor, type TaskName, taskNow } from '../work/stage.js';
import { accept, callStep, outcome, type TaskBody, taskOf, toolStep } from './stage.js';

let one: TestNode;
let two: TestNode;
let account: TestAccount;
let agent: TestMember;
let steward: TestMember;

beforeAll(async () => {
  one = await TestNode.start();
  two = await TestNode.start({}, one);
  account = await firstAccount(one);
  steward = await newHuman(one, account);
  agent = await newAgent(one, account, { steward_public_id: steward.id, approval_floor: 'bypass' });
});

afterAll(async () => {
  await two?.close();
  await one?.close();
});

const provider = (of = account, fields: object = {}): Promise<TestExecutor> => {
  const name = `provider-${newId()}`;
  return newExecutor(one, of, {
    kind: 'tool_provider',
    display_name: name,
    manager_public_id: of.adminId,
    registration_identifier: name,
    assignment_scope: 'account_wide',
    ...fields,
  });
};

const administer = async (verb: string, executor: TestExecutor): Promise<void> => {
  const path = `/platform_api/v1/executors/${executor.id}/${verb}`;
  ok(await one.http('POST', path, { token: account.platformToken }));
};

/** A name that no other test uses. */
const freshName = (): string => `pooled_${newId().slice(-12)}`;

const nameOf = ({ run_public_id, task_key }: TaskName): TaskName => ({ run_public_id, task_key });

const adjudicate = (verb: string, task: TaskName, { token }: TestMember): Promise<HttpAnswer> =>
  one.http('POST', `/agent_api/v1/runs/${task.run_public_id}/tasks/${task.task_key}/${verb}`, { token });

const bodyOf = (answer: HttpAnswer): TaskBody => (ok(answer).body as { task: TaskBody }).task;

const inboxOf = async (executor: TestExecutor, node = one): Promise<TaskName[]> => {
  const { body } = await restDoor(node, executor).ask('inbox', { limit: 200 });
  return (body as { tasks: TaskName[] }).tasks.map(nameOf);
};

describe('A pool', () => {
  it('delivers a call to any of its members, and one of several claims it', async () => {
    const name = freshName();
    const members = [await provider(), await provider(), await provider()];
    for (const member of members) await announce(one, member, [tool(name)]);
    const run = await newRun(one, agent, null);
    for (let round = 0; round < 6; round += 1) {
      const task = taskOf(await accept(one, agent, run, [toolStep(name)]));
      expect(task['addressed_to']).toEqual({ role: 'tool_provider' });
      for (const member of members) expect(await inboxOf(member, two)).toContainEqual(nameOf(task));
      const answers = await Promise.all(
        members.flatMap((member) =>
          [one, two].map((node) => restDoor(node, member).ask('claim', nameOf(task))),
        ),
      );
      expect(answers.map((answer) => outcome({ ...answer, headers: {} })).sort()).toEqual([
        '200',
        ...Array<string>(5).fill('409 already_claimed'),
      ]);
      const winner = answers.find(({ status }) => status === 200);
      const { claim, task: taken } = winner?.body as {
        claim: { claim_token: string };
        task: { claimed_by: { executor_public_id: string } };
      };
      const claimant = members.find(({ id }) => id === taken.claimed_by.executor_public_id) as TestExecutor;
      for (const member of members) {
        const listed = (await inboxOf(member)).some(({ task_key }) => task_key === task.task_key);
        expect(listed).toBe(member === claimant);
        if (member === claimant) continue;
        const body = { ...nameOf(task), claim_token: claim.claim_token };
        const commit = await restDoor(one, member).ask('commit', body);
        expect(outcome({ ...commit, headers: {} })).toBe('409 not_addressed_here');
      }
      const body = { ...nameOf(task), claim_token: claim.claim_token, content: 'done' };
      expect((await restDoor(two, claimant).ask('commit', body)).status).toBe(200);
      expect(await taskNow(one, agent, task)).toMatchObject({
        status: 'completed',
        claimed_by: { executor_public_id: claimant.id },
      });
    }
  });

  it('member still lists what it has claimed when it announces the name no more, and may commit it', async () => {
    const name = freshName();
    const member = await provider();
    await announce(one, member, [tool(name)]);
    const run = await newRun(one, agent, null);
    const [taken, waiting] = [
      taskOf(await accept(one, agent, run, [toolStep(name)])),
      taskOf(await accept(one, agent, run, [toolStep(name)])),
    ];
    const claim_token = await claimed(restDoor(one, member), taken);
    await announce(one, member, []);
    expect(await inboxOf(member, two)).toEqual([nameOf(taken)]);
    const commit = await restDoor(two, member).ask('commit', {
      ...nameOf(taken),
      claim_token,
      content: 'done',
    });
    expect(commit.status).toBe(200);
    await announce(one, member, [tool(name)]);
    expect(await inboxOf(member, two)).toEqual([nameOf(waiting)]);
  });

  it('is closed to a private provider of somebody else: for an agent’s call, and for a person’s', async () => {
    const name = freshName();
    const mine = await provider(account, { manager_public_id: steward.id, assignment_scope: 'user_private' });
    const shared = await provider();
    for (const member of [mine, shared]) await announce(one, member, [tool(name)]);
    const stranger = await newHuman(one, account);
    const foreign = await newAgent(one, account, { approval_floor: 'bypass' });
    for (const caller of [stranger, foreign]) {
      const task = taskOf(await accept(one, caller, await newRun(one, caller, null), [toolStep(name)]));
      expect(await inboxOf(mine)).toEqual([]);
      const answer = await restDoor(one, mine).ask('claim', nameOf(task));
      expect(outcome({ ...answer, headers: {} })).toBe('409 not_eligible');
      await claimed(restDoor(one, shared), task);
    }
    const task = taskOf(await accept(one, steward, await newRun(one, steward, null), [toolStep(name)]));
    await claimed(restDoor(one, mine), task);
  });

  it('tells every member that there is work', async () => {
    const name = freshName();
    const members = [await provider(), await provider()];
    const stranger = await provider();
    await announce(one, stranger, [tool(freshName())]);
    for (const member of members) await announce(one, member, [tool(name)]);
    const clients = await Promise.all([...members, stranger].map((member) => onBus(member)));
    const heard = clients.map((client, index) =>
      client.connection.subscribe(([...members, stranger][index] as TestExecutor).subjects.work),
    );
    await Promise.all(clients.map((client) => client.connection.flush()));
    const run = await newRun(one, agent, null);
    const task = taskOf(await accept(two, agent, run, [toolStep(name)]));
    for (const pushes of heard.slice(0, members.length)) {
      for await (const message of pushes) {
        expect(message.json()).toEqual({
          event: 'work_available',
          ...nameOf(task),
          kind: 'tool_call',
          tool_name: name,
        });
        break;
      }
    }
    expect(heard.at(-1)?.getReceived()).toBe(0);
    await Promise.all(clients.map((client) => client.close()));
  });

  it('has only members that announce the name and are eligible', async () => {
    const name = freshName();
    const owner = await newHuman(one, account);
    const [member, leaving, other] = [await provider(), await provider(), await provider()];
    const hidden = await provider(account, { manager_public_id: owner.id, assignment_scope: 'user_private' });
    const foreign = await provider(await secondAccount(one));
    for (const each of [member, leaving, hidden, foreign]) await announce(one, each, [tool(name)]);
    await announce(one, other, [tool(freshName())]);
    await administer('shutdown', leaving);
    const task = taskOf(await accept(one, agent, await newRun(one, agent, null), [toolStep(name)]));
    const claimOf = async (executor: TestExecutor): Promise<string> =>
      outcome({ ...(await restDoor(two, executor).ask('claim', nameOf(task))), headers: {} });
    expect(await claimOf(other)).toBe('409 not_addressed_here');
    expect(await claimOf(leaving)).toBe('409 not_eligible');
    expect(await claimOf(hidden)).toBe('409 not_eligible');
    expect(await claimOf(foreign)).toBe('404 not_found');
    for (const each of [other, leaving, hidden, foreign]) expect(await inboxOf(each)).toEqual([]);
    expect(await claimOf(member)).toBe('200');
  });

  it('is approved as one: an entry that another member announces lets the call rest again', async () => {
    const name = freshName();
    const strict = await newAgent(one, account, { steward_public_id: steward.id });
    const run = await newRun(one, strict, null);
    const write = tool(name, { effect_profile: WRITE });
    const [first, second, third] = [await provider(), await provider(), await provider()];
    await announce(one, first, [write]);
    const rest = async (): Promise<TaskBody> => taskOf(await accept(one, strict, run, [toolStep(name)]));
    const [same, changed] = [await rest(), await rest()];
    await announce(one, second, [write]);
    expect(bodyOf(await adjudicate('approve', same, steward))).toMatchObject({ status: 'dispatched' });
    await announce(one, third, [tool(name, { effect_profile: WRITE, description: 'Another thing' })]);
    expect(bodyOf(await adjudicate('approve', changed, steward))).toMatchObject({ status: 'needs_approval' });
    expect(bodyOf(await adjudicate('approve', changed, steward))).toMatchObject({ status: 'dispatched' });
    await claimed(restDoor(one, second), same);
    await claimed(restDoor(two, third), changed);
  });

  it('that is shutting down keeps what is approved; one that nobody is left of fails it', async () => {
    const name = freshName();
    const strict = await newAgent(one, account, { steward_public_id: steward.id });
    const run = await newRun(one, strict, null);
    const member = await provider();
    await announce(one, member, [tool(name, { effect_profile: WRITE })]);
    const [kept, lost, denied] = await Promise.all(
      [0, 1, 2].map(async () => taskOf(await accept(one, strict, run, [toolStep(name)]))),
    );
    await administer('shutdown', member);
    expect(bodyOf(await adjudicate('approve', kept as TaskBody, steward))).toMatchObject({
      status: 'dispatched',
    });
    await administer('revoke', member);
    expect(bodyOf(await adjudicate('approve', lost as TaskBody, steward))).toMatchObject({
      status: 'failed',
      error: { key: 'tool_not_served' },
    });
    expect(bodyOf(await adjudicate('deny', denied as TaskBody, steward))).toMatchObject({
      error: { key: 'approval_denied' },
    });
    expect(bodyOf(await adjudicate('retry', lost as TaskBody, strict))).toMatchObject({
      status: 'failed',
      generation: 2,
      error: { key: 'tool_not_served' },
    });
  });

  it('is retried as a pool: another member may claim', async () => {
    const name = freshName();
    const [first, second] = [await provider(), await provider()];
    for (const member of [first, second]) await announce(one, member, [tool(name)]);
    const run = await newRun(one, agent, null);
    const task = taskOf(await accept(one, agent, run, [toolStep(name)]));
    const claim_token = await claimed(restDoor(one, first), task);
    const commit = { ...nameOf(task), claim_token, outcome: 'failed' };
    expect((await restDoor(one, first).ask('commit', commit)).status).toBe(200);
    expect(bodyOf(await adjudicate('retry', task, agent))).toMatchObject({
      generation: 2,
      addressed_to: { role: 'tool_provider' },
    });
    await claimed(restDoor(two, second), task);
    const old = await restDoor(one, first).ask('commit', commit);
    expect(outcome({ ...old, headers: {} })).toBe('409 not_addressed_here');
  });

  it('serves people only, as soon as one member describes the tool to nobody', async () => {
    const name = freshName();
    const [open, hidden] = [await provider(), await provider()];
    await announce(one, open, [tool(name)]);
    await announce(one, hidden, [{ name, effect_profile: READ_ONLY }]);
    const run = await newRun(one, agent, null);
    expect(outcome(await accept(one, agent, run, [toolStep(name)]))).toBe('403 person_required');
    expect(taskOf(await accept(one, steward, run, [toolStep(name)]))).toMatchObject({
      status: 'dispatched',
      approval: { origin: 'human', decided_by: steward.id },
    });
  });

  it('brings no agent to an operator capability: a provider that joins it without a description takes people’s calls only', async () => {
    const name = freshName();
    const [open, hidden] = [await provider(), await provider()];
    await announce(one, open, [tool(name)]);
    const claimOf = async (executor: TestExecutor, task: TaskName): Promise<string> =>
      outcome({ ...(await restDoor(two, executor).ask('claim', nameOf(task))), headers: {} });
    const callOf = async (member: TestMember): Promise<TaskBody> =>
      taskOf(await accept(one, member, await newRun(one, member, null), [toolStep(name)]));
    const [byAgent, byPerson] = [await callOf(agent), await callOf(steward)];
    await announce(two, hidden, [{ name, effect_profile: WRITE }]);
    expect(await inboxOf(hidden)).toEqual([nameOf(byPerson)]);
    expect(await claimOf(hidden, byAgent)).toBe('409 not_addressed_here');
    expect(await claimOf(hidden, byPerson)).toBe('200');
    expect(await inboxOf(open)).toEqual([nameOf(byAgent)]);
    // as soon as it is described, it is one for models
    await announce(one, hidden, [tool(name)]);
    expect(await claimOf(hidden, byAgent)).toBe('200');
  });

  it('that a person reaches through an agent’s run serves them: they have decided by calling', async () => {
    const name = freshName();
    const hidden = await provider();
    await announce(one, hidden, [{ name, effect_profile: WRITE }]);
    const task = taskOf(await accept(one, steward, await newRun(one, agent, null), [toolStep(name)]));
    expect(await inboxOf(hidden)).toEqual([nameOf(task)]);
    await claimed(restDoor(two, hidden), task);
  });
});

describe('Tool provider overrides', () => {
  const PATH = '/platform_api/v1/tool_provider_overrides';
  const put = (body: unknown, token = account.platformToken, node = one): Promise<HttpAnswer> =>
    node.http('PUT', PATH, { token, body });
  const read = async (token = account.platformToken, node = two): Promise<unknown> =>
    ok(await node.http('GET', PATH, { token })).body;

  it('are none at first, and replaced whole', async () => {
    const other = await secondAccount(one);
    expect(await read(other.platformToken)).toEqual({ overrides: [] });
    for (const overrides of [['memory_read', 'memory_ls'], [...OVERRIDABLE_NAMES], ['memory_grep'], []]) {
      expect(ok(await put({ overrides }, other.platformToken)).body).toEqual({ overrides });
      expect(await read(other.platformToken)).toEqual({ overrides });
    }
  });

  it.each<[string, unknown, string]>([
    ['no list', {}, '400 parameter_missing'],
    ['null', { overrides: null }, '422 validation_failed'],
    ['a string', { overrides: 'memory_read' }, '422 validation_failed'],
    ['another kernel name', { overrides: ['memory_read', 'tool_search'] }, '422 validation_failed'],
    ['a canonical name', { overrides: ['nexus.memory.read'] }, '422 validation_failed'],
    ['an ordinary name', { overrides: ['bash'] }, '422 validation_failed'],
    ['a number', { overrides: [7] }, '422 validation_failed'],
    ['a name twice', { overrides: ['memory_ls', 'memory_ls'] }, '422 validation_failed'],
    ['a prototype’s name', { overrides: ['constructor'] }, '422 validation_failed'],
    ['a list for a body', '[]', '400 invalid_json'],
    ['truncated JSON', '{"overrides":[', '400 invalid_json'],
  ])('refuse %s and stay as they are', async (_name, body, expected) => {
    ok(await put({ overrides: ['memory_delete'] }));
    expect(outcome(await put(body))).toBe(expected);
    expect(await read()).toEqual({ overrides: ['memory_delete'] });
    ok(await put({ overrides: [] }));
  });

  it('are the administrators’ alone, and audited', async () => {
    const admin = await withToken(one, account, account.adminId);
    const runner = await newRunner(one, account);
    for (const { token } of [agent, admin, runner]) {
      expect(outcome(await put({ overrides: ['memory_read'] }, token))).toBe('401 unauthorized');
      expect(outcome(await one.http('GET', PATH, { token }))).toBe('401 unauthorized');
    }
    ok(await put({ overrides: ['memory_edit'] }));
    ok(await put({ overrides: [] }));
    const audit = await one.http('GET', '/platform_api/v1/audit?limit=2', { token: account.platformToken });
    const change = { action: 'tool_provider_overrides.changed', actor_public_id: account.adminId };
    expect((audit.body as { entries: unknown[] }).entries).toEqual([
      expect.objectContaining({ ...change, detail: { overrides: [] } }),
      expect.objectContaining({ ...change, detail: { overrides: ['memory_edit'] } }),
    ]);
  });

  it('send a kernel name to the pool only where the account opted in, on every node at once', async () => {
    const member = await provider();
    await announce(one, member, [tool('memory_read'), tool('memory_write', { effect_profile: WRITE })]);
    const definition = {
      type: 'function',
      function: { name: 'memory_read', parameters: { type: 'object' } },
    };
    const run = await newRun(one, agent, null, { configuration: { tool_definitions: [definition] } });
    const steps = [callStep('memory_read'), toolStep('memory_read')];
    const outcomes = async (node: TestNode): Promise<string[]> =>
      Promise.all(steps.map(async (step) => outcome(await accept(node, agent, run, [step]))));
    expect(await outcomes(one)).toEqual(['422 tool_not_served', '422 tool_not_served']);
    ok(await put({ overrides: ['memory_read'] }, account.platformToken, two));
    expect(await outcomes(one)).toEqual(['201', '201']);
    expect(await outcomes(two)).toEqual(['201', '201']);
    const task = taskOf(await accept(one, agent, run, [toolStep('memory_read')]));
    expect(task['addressed_to']).toEqual({ role: 'tool_provider' });
    await claimed(restDoor(two, member), task);
    expect(outcome(await accept(one, agent, run, [toolStep('memory_write')]))).toBe('422 tool_not_served');
    expect(outcome(await accept(one, agent, run, [toolStep('nexus.memory.read')]))).toBe(
      '422 tool_not_served',
    );
    // another account has not opted in, whoever announces the name there
    const other = await secondAccount(one);
    await announce(one, await provider(other), [tool('memory_read')]);
    const stranger = await newAgent(one, other, { approval_floor: 'bypass' });
    const strange = await newRun(one, stranger, null);
    expect(outcome(await accept(one, stranger, strange, [toolStep('memory_read')]))).toBe(
      '422 tool_not_served',
    );
    ok(await put({ overrides: [] }));
    expect(await outcomes(two)).toEqual(['422 tool_not_served', '422 tool_not_served']);
    await administer('revoke', member);
  });

  it('are asked again by the statement that accepts: one that is withdrawn meanwhile lets nothing through', async () => {
    const member = await provider();
    await announce(one, member, [tool('memory_read')]);
    const run = await newRun(one, agent, null);
    const { rows } = await one.db.pool.query<{ id: AccountId }>(
      `select account_id as id from members where id = $1`,
      [agent.id],
    );
    const draft = {
      request: 0,
      account_id: rows[0]?.id,
      run_id: run,
      credential_id: agent.credentialId,
      caller_id: agent.id,
      author_id: agent.id,
      of_agent: true,
      ordinal: 0,
      task_key: 'k',
      tool_name: 'memory_read',
      tool_input: '{}',
      effect_profile: JSON.stringify(READ_ONLY),
      addressed_role: 'tool_provider',
      timeout_ms: 1_000,
      extension_bound_ms: 1_000,
      status: 'dispatched',
    };
    const insert = (): Promise<object[]> => one.db.rows(acceptTasks, JSON.stringify([draft]));
    expect(await insert()).toEqual([]);
    ok(await put({ overrides: ['memory_read'] }));
    expect(await insert()).toHaveLength(1);
    ok(await put({ overrides: [] }));
    await administer('revoke', member);
  });

  it('never send it to an application, nor to a runner without a route', async () => {
    const author = await newAgent(one, account, { approval_floor: 'bypass' });
    const application = await newExecutor(one, account, {
      kind: 'agent_application',
      display_name: 'Application',
      agent_public_id: author.id,
      assignment_scope: 'user_private',
    });
    const runner = await newRunner(one, account);
    for (const each of [application, runner]) await announce(one, each, [tool('memory_read')]);
    const run = await newRun(one, author, runner);
    for (const overrides of [[], ['memory_read']]) {
      ok(await put({ overrides }));
      expect(outcome(await accept(one, author, run, [toolStep('memory_read')]))).toBe('422 tool_not_served');
    }
    const routed = taskOf(await accept(one, author, run, [toolStep('memory_read', runner)]));
    expect(routed).toMatchObject({ target: { executor_public_id: runner.id } });
    ok(await put({ overrides: [] }));
  });

  it('that are withdrawn leave what was accepted, and no decision opens it again', async () => {
    const strict = await newAgent(one, account, { steward_public_id: steward.id });
    const member = await provider();
    await announce(one, member, [tool('memory_read'), tool('memory_write', { effect_profile: WRITE })]);
    ok(await put({ overrides: ['memory_read', 'memory_write'] }));
    const run = await newRun(one, strict, null);
    const resting = taskOf(await accept(one, strict, run, [toolStep('memory_write')]));
    const waiting = taskOf(await accept(one, strict, run, [toolStep('memory_read')]));
    ok(await put({ overrides: [] }));
    const claim_token = await claimed(restDoor(two, member), waiting);
    const commit = { ...nameOf(waiting), claim_token, outcome: 'failed' };
    expect((await restDoor(one, member).ask('commit', commit)).status).toBe(200);
    const gone = { status: 'failed', error: { key: 'tool_not_served' } };
    expect(bodyOf(await adjudicate('approve', resting, steward))).toMatchObject(gone);
    expect(bodyOf(await adjudicate('retry', waiting, strict))).toMatchObject(gone);
  });

  it('are replaced whole by one of several at once', async () => {
    const lists = OVERRIDABLE_NAMES.map((name) => [name]);
    await Promise.all(
      lists.map(async (overrides, index) =>
        ok(await put({ overrides }, account.platformToken, index % 2 ? one : two)),
      ),
    );
    expect(lists.map((overrides) => ({ overrides }))).toContainEqual(await read());
    ok(await put({ overrides: [] }));
  });
});
