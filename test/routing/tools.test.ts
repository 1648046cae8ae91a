import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type BusClient } from '../support/bus-client.js';
import {
  announce,
  firstAccount,
  newAgent,
  newRun,
  newRunner,
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

const KERNEL = ['nexus.tools.search', 'nexus.tools.call'];

describe('tool_search, tool_call and skills', () => {
  let node: TestNode;
  let account: TestAccount;
  let agent: TestMember;
  let human: TestMember;
  let runner: TestExecutor;
  let other: TestExecutor;
  let bus: BusClient;
  let run: string;

  beforeAll(async () => {
    node = await TestNode.start();
    account = await firstAccount(node);
    agent = await newAgent(node, account);
    human = await withToken(node, account, account.adminId);
    runner = await newRunner(node, account);
    other = await newRunner(node, account);
    bus = await onBus(runner);
    const documents = [{ name: 'deployment', description: 'How to roll out' }];
    await announce(
      node,
      runner,
      [
        tool('read', { timeout_ms: 4_321 }),
        tool('write', { effect_profile: WRITE }),
        tool('skill'),
        { name: 'files_bytes', effect_profile: READ_ONLY },
      ],
      { documents },
    );
    await announce(node, other, [tool('skill')], { documents });
    run = await newRun(node, agent, runner, {
      configuration: { runner_executor_public_ids: [runner.id], kernel_tools: KERNEL },
    });
  });
  afterAll(async () => {
    await bus.close();
    await node.close();
  });

  const accept = (member: TestMember, step: object, of = run): Promise<HttpAnswer> =>
    node.http('POST', `/agent_api/v1/runs/${of}/tasks`, { token: member.token, body: { steps: [step] } });
  const call = (name: string, input: object, fields: object = {}): object => ({
    call: { name, input, ...fields },
  });

  it('tool_search runs in the kernel, over the frozen declaration', async () => {
    const { body } = await accept(agent, call('tool_search', { query: 'read' }));
    expect(body.tasks[0]).toMatchObject({
      tool_name: 'tool_search',
      status: 'completed',
      addressed_to: { role: 'kernel' },
      structured_content: {
        tools: [{ name: 'read', route: { tool_name: 'read' }, skills: [] }],
        truncated: false,
      },
    });
  });

  it('tool_search that is asked wrongly fails, and says why', async () => {
    const { body } = await accept(agent, call('tool_search', { query: '' }));
    expect(body.tasks[0]).toMatchObject({
      status: 'failed',
      error: { key: 'tool_failed', detail: 'query must be a string of 1 to 1000 characters' },
    });
  });

  it('tool_call becomes that call: one task under its key, with the called tool’s target, profile and deadline', async () => {
    const step = call(
      'tool_call',
      { name: 'read', input: { path: 'a', n: 1 } },
      { key: 'k1', tool_call_id: 'c1' },
    );
    const { status, body } = await accept(agent, step);
    expect(status).toBe(201);
    expect(body.tasks).toHaveLength(1);
    expect(body.tasks[0]).toMatchObject({
      task_key: 'k1',
      tool_name: 'read',
      tool_alias: 'read',
      tool_call_id: 'c1',
      tool_input: { path: 'a', n: 1 },
      target: { executor_public_id: runner.id },
      effect_profile: READ_ONLY,
      timeout_ms: 4_321,
      status: 'dispatched',
    });
  });

  it('tool_call goes through the approval of the called tool', async () => {
    const { body } = await accept(agent, call('tool_call', { name: 'write', input: {} }));
    expect(body.tasks[0]).toMatchObject({ tool_name: 'write', status: 'needs_approval' });
  });

  it.each([
    [422, 'tool_not_declared', { name: 'nothing', input: {} }],
    [422, 'tool_not_declared', { name: 'files_bytes', input: {} }],
    [422, 'validation_failed', { name: 'tool_call', input: { name: 'read', input: {} } }],
    [400, 'parameter_missing', { input: {} }],
    [400, 'parameter_missing', { name: 'read' }],
    [422, 'validation_failed', { name: 7, input: {} }],
    [422, 'validation_failed', { name: 'read', input: [] }],
  ])('tool_call adds no authority: %s %s for %j', async (status, code, input) => {
    for (const member of [agent, human]) {
      expect(await accept(member, call('tool_call', input))).toMatchObject({
        status,
        body: { error: { code } },
      });
    }
  });

  it('a skill is a task of the runner that announced the document, and its answer the body', async () => {
    const { body } = await accept(agent, call('skill', { name: 'deployment' }, { key: 'skill' }));
    expect(body.tasks[0]).toMatchObject({ tool_name: 'skill', target: { executor_public_id: runner.id } });
    const address = { run_public_id: run, task_key: 'skill' };
    const claimed = await bus.ask('claim', address);
    await bus.ask('commit', {
      ...address,
      claim_token: claimed.body.claim.claim_token,
      content: '# Deployment',
    });
    const { body: read } = await node.http('GET', `/agent_api/v1/runs/${run}/tasks/skill`, {
      token: agent.token,
    });
    expect(read.task).toMatchObject({ status: 'completed', content: '# Deployment' });
  });

  it('a withdrawn skill fails on that runner; an equally named one elsewhere is never used', async () => {
    const { body } = await accept(agent, call('skill', { name: 'deployment' }, { key: 'before' }));
    expect(body.tasks[0].status).toBe('dispatched');
    await announce(node, runner, [tool('read')]);
    const refused = await bus.ask('claim', { run_public_id: run, task_key: 'before' });
    expect(refused).toMatchObject({ status: 409, code: 'tool_not_served' });
    expect(await accept(agent, call('skill', { name: 'deployment' }))).toMatchObject({
      status: 422,
      body: { error: { code: 'tool_not_served' } },
    });
    const { body: inbox } = await node.http('GET', '/agent_api/v1/executor/inbox', { token: other.token });
    expect(inbox.tasks).toEqual([]);
  });
});
