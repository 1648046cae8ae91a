import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { callStep, outcome, toolStep } from '../routing/stage.js';
import {
  announce,
  firstAccount,
  newAgent,
  newExecutor,
  newRun,
  newRunner,
  ok,
  READ_ONLY,
  type TestAccount,
  type TestExecutor,
  type TestMember,
  tool,
  WRITE,
} from '../support/factories.js';
import { TestNode } from '../support/node.js';
import {
  claimed,
  codeOf,
  type Door,
  parked,
  pastDeadline,
  restDoor,
  type TaskName,
  taskNow,
} from '../work/stage.js';

let node: TestNode;
let account: TestAccount;
let agent: TestMember;
let runner: TestExecutor;
let door: Door;

const TOOLS = [tool('read', { effect_profile: READ_ONLY }), tool('write', { effect_profile: WRITE })];

beforeAll(async () => {
  node = await TestNode.start();
  account = await firstAccount(node);
  agent = await newAgent(node, account, { approval_floor: 'bypass' });
  runner = await newRunner(node, account);
  await announce(node, runner, TOOLS);
  door = restDoor(node, runner);
});

afterAll(() => node?.close());

interface Effects {
  readonly status: string;
  readonly reason?: string;
  readonly runners: readonly Record<string, unknown>[];
}

async function effectsOf(run: string): Promise<Effects> {
  const answer = ok(await node.http('GET', `/agent_api/v1/runs/${run}`, { token: agent.token }));
  return (answer.body as { run: { runner_effects: Effects } }).run.runner_effects;
}

const effectsPath = (conversation: string, from: string): string =>
  `/agent_api/v1/conversations/${conversation}/runner_effects?from_run=${from}`;

async function effectsFrom(conversation: string, from: string): Promise<Effects> {
  const answer = ok(await node.http('GET', effectsPath(conversation, from), { token: agent.token }));
  return (answer.body as { runner_effects: Effects }).runner_effects;
}

async function newConversation(): Promise<string> {
  const answer = await node.http('POST', '/agent_api/v1/conversations', { token: agent.token, body: {} });
  return (ok(answer).body as { conversation: { public_id: string } }).conversation.public_id;
}

const fact = (executor: TestExecutor, { run_public_id, task_key }: TaskName, more: object = {}): object => ({
  runner_executor_public_id: executor.id,
  run_public_id,
  task_key,
  claimed_at: expect.any(String),
  ...more,
});

/** Claims and commits with this metadata, at this runner; answers the task's name. */
async function written(run: string, metadata?: object): Promise<TaskName> {
  const task = await parked(node, agent, run, callStep('write'));
  const claim_token = await claimed(door, task);
  const result = { outcome: 'completed', content: 'done', ...(metadata ? { metadata } : {}) };
  const answer = await door.ask('commit', { ...task, claim_token, ...result });
  expect(codeOf(answer)).toBe('200');
  return task;
}

describe('The capture first_runner_write', () => {
  it('is left by a claimed write on a runner alone: an unclaimed task, a read and a provider leave none', async () => {
    const provider = await newExecutor(node, account, {
      kind: 'tool_provider',
      display_name: 'Provider',
      manager_public_id: account.adminId,
      registration_identifier: 'evidence-provider',
      assignment_scope: 'account_wide',
    });
    await announce(node, provider, [tool('lookup', { effect_profile: WRITE })]);
    const run = await newRun(node, agent, runner);
    await parked(node, agent, run, callStep('write'));
    await claimed(door, await parked(node, agent, run, callStep('read')));
    await claimed(restDoor(node, provider), await parked(node, agent, run, toolStep('lookup')));
    expect(await effectsOf(run)).toEqual({ status: 'untouched', runners: [] });
    const task = await parked(node, agent, run, callStep('write'));
    await claimed(door, task);
    expect(await effectsOf(run)).toEqual({ status: 'touched', runners: [fact(runner, task)] });
  });

  it('tells an absent checkpoint, null and a value apart, and shows the value byte for byte', async () => {
    const [absent, none] = [await newRun(node, agent, runner), await newRun(node, agent, runner)];
    const without = await written(absent, { other: 1 });
    expect((await effectsOf(absent)).runners).toEqual([fact(runner, without)]);
    const withNull = await written(none, { checkpoint: null });
    expect((await effectsOf(none)).runners).toEqual([fact(runner, withNull, { checkpoint: null })]);
    const run = await newRun(node, agent, runner);
    const task = await parked(node, agent, run, callStep('write'));
    const claim_token = await claimed(door, task);
    const checkpoint = '{ "z":1.0, "a":[ ] }';
    const path = `/agent_api/v1/executor/inbox/${run}/${task.task_key}/commit`;
    const body = `{"claim_token":"${claim_token}","outcome":"completed","content":"ok","metadata":{"checkpoint":${checkpoint}}}`;
    ok(await node.http('POST', path, { token: runner.token, body }));
    const { text } = await node.http('GET', `/agent_api/v1/runs/${run}`, { token: agent.token });
    expect(text).toContain(`"checkpoint":${checkpoint}`);
  });

  it('is evidence also when the task timed out, and a commit that came too late adds its checkpoint', async () => {
    const run = await newRun(node, agent, runner);
    const task = await parked(node, agent, run, callStep('write'));
    const claim_token = await claimed(door, task);
    await pastDeadline(node, task);
    const late = { outcome: 'completed', content: 'late', metadata: { checkpoint: { tree: 'late' } } };
    await door.ask('commit', { ...task, claim_token, ...late });
    expect((await taskNow(node, agent, task)).status).not.toBe('completed');
    expect(await effectsOf(run)).toEqual({
      status: 'touched',
      runners: [fact(runner, task, { checkpoint: { tree: 'late' } })],
    });
  });

  it('is the first for each runner, by claim time and not by acceptance', async () => {
    const box = await newRunner(node, account);
    await announce(node, box, TOOLS);
    const run = await newRun(node, agent, runner);
    const early = await parked(node, agent, run, callStep('write'));
    const elsewhere = await parked(node, agent, run, toolStep('write', box));
    const late = await parked(node, agent, run, callStep('write'));
    await claimed(restDoor(node, box), elsewhere);
    await claimed(door, late);
    await claimed(door, early);
    expect((await effectsOf(run)).runners).toEqual([fact(box, elsewhere), fact(runner, late)]);
  });

  it('stays as it was through a retry: neither a new claim nor a new checkpoint changes it', async () => {
    const run = await newRun(node, agent, runner);
    const task = await written(run, { checkpoint: { tree: 'first' } });
    const before = await effectsOf(run);
    await node.db.pool.query(
      `update tasks set status = 'dispatched', generation = generation + 1, settled_at = null, content = null,
         is_error = null, metadata = null, claimed_by = null, claim_epoch = null, claim_token_sha256 = null,
         claimed_at = null, deadline_at = clock_timestamp() + interval '1 minute'
       where run_id = $1 and task_key = $2`,
      [run, task.task_key],
    );
    const again = await claimed(door, task);
    const result = { outcome: 'completed', content: 'again', metadata: { checkpoint: { tree: 'second' } } };
    expect(codeOf(await door.ask('commit', { ...task, claim_token: again, ...result }))).toBe('200');
    expect(before.status).toBe('touched');
    expect(await effectsOf(run)).toEqual(before);
  });

  it('never holds the claim token', async () => {
    const run = await newRun(node, agent, runner);
    const token = await claimed(door, await parked(node, agent, run, callStep('write')));
    const { text } = await node.http('GET', `/agent_api/v1/runs/${run}`, { token: agent.token });
    expect(text).toContain('touched');
    expect(text).not.toContain(token);
  });

  it('stays when the runner is revoked', async () => {
    const box = await newRunner(node, account);
    await announce(node, box, TOOLS);
    const run = await newRun(node, agent, box);
    const task = await parked(node, agent, run, callStep('write'));
    await claimed(restDoor(node, box), task);
    const revoke = `/platform_api/v1/executors/${box.id}/revoke`;
    ok(await node.http('POST', revoke, { token: account.platformToken }));
    expect((await taskNow(node, agent, task)).status).not.toBe('dispatched');
    expect(await effectsOf(run)).toEqual({ status: 'touched', runners: [fact(box, task)] });
  });
});

describe('runner_effects of a conversation', () => {
  let conversation: string;
  let runs: string[];
  let tasks: TaskName[];

  beforeAll(async () => {
    conversation = await newConversation();
    runs = [];
    tasks = [];
    for (let index = 0; index < 4; index += 1) {
      const run = await newRun(node, agent, runner, { conversation_public_id: conversation });
      runs.push(run);
      if (index !== 1) tasks[index] = await written(run, { checkpoint: index });
    }
  });

  const at = (index: number): string => runs[index] as string;
  const firstAt = (index: number): object => fact(runner, tasks[index] as TaskName, { checkpoint: index });

  it('are the first write for each runner over the run and all later ones', async () => {
    expect(await effectsFrom(conversation, at(0))).toEqual({ status: 'touched', runners: [firstAt(0)] });
    expect(await effectsFrom(conversation, at(1))).toEqual({ status: 'touched', runners: [firstAt(2)] });
    expect(await effectsFrom(conversation, at(3))).toEqual({ status: 'touched', runners: [firstAt(3)] });
  });

  it('are shown to those who see the conversation, and to nobody else', async () => {
    const stranger = await newAgent(node, account);
    const answer = await node.http('GET', effectsPath(conversation, at(0)), { token: stranger.token });
    expect(outcome(answer)).toBe('404 not_found');
  });

  it('are complete without a pruned run that could not have written', async () => {
    await pruned(at(1), false);
    expect(await effectsFrom(conversation, at(0))).toEqual({ status: 'touched', runners: [firstAt(0)] });
  });

  it('are unavailable as soon as a pruned one could have written, and what is still shown is partial', async () => {
    await pruned(at(2), true);
    await node.db.pool.query('delete from tasks where run_id = $1', [at(2)]);
    for (const from of [0, 1, 2]) {
      const { status, reason } = await effectsFrom(conversation, at(from));
      expect([status, reason]).toEqual(['unavailable', 'execution_details_pruned']);
    }
    expect((await effectsFrom(conversation, at(1))).runners).toEqual([firstAt(3)]);
    expect(await effectsFrom(conversation, at(3))).toEqual({ status: 'touched', runners: [firstAt(3)] });
  });

  /** As retention leaves a run, its rows of tasks apart. */
  const pruned = (id: string, couldHaveWritten: boolean): Promise<unknown> =>
    node.db.pool.query(
      `update runs set details_pruned_at = now(), completed_at = now(), declaration_digest = null,
         could_have_written = $2 where id = $1`,
      [id, couldHaveWritten],
    );
});
