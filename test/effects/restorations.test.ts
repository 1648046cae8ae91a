import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '../../src/db/ids.js';
import { age, prune } from '../retention/stage.js';
import { accept, outcome, taskOf, toolStep } from '../routing/stage.js';
import {
  announce,
  firstAccount,
  newAgent,
  newHuman,
  newRunner,
  ok,
  type TestAccount,
  type TestExecutor,
  type TestMember,
  tool,
  withToken,
  WRITE,
} from '../support/factories.js';
import { type HttpAnswer, TestNode } from '../support/node.js';
import { claimed, codeOf, parked, restDoor, type TaskName, taskNow } from '../work/stage.js';
import { LocalRunner } from './local-runner.js';

interface Target {
  readonly runner_executor_public_id: string;
  readonly status: string;
  readonly task_key?: string;
  readonly error?: { readonly key: string; readonly detail?: string };
}

interface Restoration {
  readonly public_id: string;
  readonly from_run_public_id: string;
  readonly run_public_id: string;
  readonly status: string;
  readonly targets: readonly Target[];
}

const TOOLS = [
  tool('write', { effect_profile: WRITE }),
  { name: 'checkpoint_restore', effect_profile: WRITE },
];

let node: TestNode;
let account: TestAccount;
let steward: TestMember;
let admin: TestMember;
let agent: TestMember;
let local: LocalRunner;
let fake: TestExecutor;

beforeAll(async () => {
  node = await TestNode.start();
  account = await firstAccount(node);
  [steward, admin] = [await newHuman(node, account), await withToken(node, account, account.adminId)];
  agent = await newAgent(node, account, { approval_floor: 'bypass', steward_public_id: steward.id });
  fake = await newRunner(node, account);
  await announce(node, fake, TOOLS);
  local = await LocalRunner.start(node, account, 'local');
});

afterAll(async () => {
  await local?.remove();
  await node?.close();
});

async function newConversation(member = agent): Promise<string> {
  const answer = await node.http('POST', '/agent_api/v1/conversations', { token: member.token, body: {} });
  return (ok(answer).body as { conversation: { public_id: string } }).conversation.public_id;
}

async function newRun(conversation: string, member = agent): Promise<string> {
  const body = { conversation_public_id: conversation, configuration: {}, approval_mode: 'bypass' };
  const answer = ok(await node.http('POST', '/agent_api/v1/runs', { token: member.token, body }));
  return (answer.body as { run: { public_id: string } }).run.public_id;
}

const pathOf = (conversation: string): string => `/agent_api/v1/conversations/${conversation}/restorations`;

const start = (
  conversation: string,
  body: unknown,
  member = agent,
  headers: Record<string, string> = {},
): Promise<HttpAnswer> => node.http('POST', pathOf(conversation), { token: member.token, body, headers });

async function started(
  conversation: string,
  from: string,
  fields: object = {},
  member = agent,
): Promise<Restoration> {
  const answer = await start(conversation, { from_run_public_id: from, ...fields }, member);
  expect(outcome(answer)).toBe('202');
  return (answer.body as { restoration: Restoration }).restoration;
}

async function read(conversation: string, id: string, member = agent): Promise<Restoration> {
  const answer = ok(await node.http('GET', `${pathOf(conversation)}/${id}`, { token: member.token }));
  return (answer.body as { restoration: Restoration }).restoration;
}

/** The restoration once each of its tasks has settled. */
async function settled(
  conversation: string,
  { public_id, run_public_id, targets }: Restoration,
): Promise<Restoration> {
  for (const { task_key } of targets)
    if (task_key !== undefined) await taskNow(node, admin, { run_public_id, task_key }, 10_000);
  return read(conversation, public_id, admin);
}

/** Calls a tool of the local runner, and waits for it. */
async function called(run: string, name: string, input: object, member = agent) {
  const task = taskOf(await accept(node, member, run, [toolStep(name, local.executor, { input })]));
  const settledTask = await taskNow(node, member, task, 10_000);
  expect(settledTask).toMatchObject({ status: 'completed', is_error: false });
  return settledTask;
}

const writtenLocally = (run: string, path: string, content: string, member = agent) =>
  called(run, 'write', { path, content }, member);

/** A write at a runner without a program, committed with this metadata. */
async function written(run: string, runner: TestExecutor, metadata?: object): Promise<TaskName> {
  const task = await parked(node, agent, run, toolStep('write', runner));
  const door = restDoor(node, runner);
  const claim_token = await claimed(door, task);
  const answer = await door.ask('commit', {
    ...task,
    claim_token,
    content: 'done',
    ...(metadata ? { metadata } : {}),
  });
  expect(codeOf(answer)).toBe('200');
  return task;
}

/** Settles the call of `checkpoint_restore` at a runner without a program. */
async function answered(runner: TestExecutor, restoration: Restoration, result: object): Promise<unknown> {
  const door = restDoor(node, runner);
  const task = { run_public_id: restoration.run_public_id, task_key: runner.id };
  const claim_token = await claimed(door, task);
  const input = (await taskNow(node, agent, task)).tool_input as unknown;
  expect(codeOf(await door.ask('commit', { ...task, claim_token, ...result }))).toBe('200');
  return input;
}

async function announcedRunner(): Promise<TestExecutor> {
  const runner = await newRunner(node, account);
  await announce(node, runner, TOOLS);
  return runner;
}

const revoke = async (runner: TestExecutor): Promise<void> => {
  const path = `/platform_api/v1/executors/${runner.id}/revoke`;
  ok(await node.http('POST', path, { token: account.platformToken }));
};

describe('A restoration', () => {
  it('puts back what the calls of a run and of all later ones changed on a runner, and is undone by one from its own run', async () => {
    await local.put('a.txt', 'old');
    const conversation = await newConversation();
    const run = await newRun(conversation);
    const { metadata } = await writtenLocally(run, 'a.txt', 'new');
    expect(metadata).toEqual({ checkpoint: { id: expect.any(String) } });
    await called(await newRun(conversation), 'bash', { command: 'rm a.txt; echo b > b.txt' });
    const restoration = await started(conversation, run);
    expect(restoration).toEqual({
      public_id: expect.any(String),
      from_run_public_id: run,
      run_public_id: expect.any(String),
      status: expect.stringMatching(/^(running|restored)$/),
      targets: [
        {
          runner_executor_public_id: local.executor.id,
          status: expect.any(String),
          task_key: local.executor.id,
        },
      ],
    });
    expect(await settled(conversation, restoration)).toMatchObject({
      status: 'restored',
      targets: [{ status: 'restored' }],
    });
    expect([await local.text('a.txt'), await local.text('b.txt')]).toEqual(['old', undefined]);
    const undo = await settled(conversation, await started(conversation, restoration.run_public_id));
    expect(undo.status).toBe('restored');
    expect([await local.text('a.txt'), await local.text('b.txt')]).toEqual([undefined, 'b\n']);
  });

  it('is an ordinary run of the conversation’s principal, its tasks there before the answer, granted by the kernel in any mode', async () => {
    const strict = await newAgent(node, account, { approval_floor: 'bypass', steward_public_id: steward.id });
    const configuration = { approval_mode: 'ask' };
    ok(
      await node.http('PUT', '/agent_api/v1/profile/configuration', {
        token: strict.token,
        body: configuration,
      }),
    );
    const conversation = await newConversation(strict);
    const run = await newRun(conversation, strict);
    await writtenLocally(run, 'strict.txt', 'x', strict);
    const restoration = await started(conversation, run, {}, steward);
    const path = `/agent_api/v1/runs/${restoration.run_public_id}`;
    const { body } = ok(await node.http('GET', path, { token: strict.token }));
    expect(body.run).toMatchObject({
      conversation_public_id: conversation,
      approval_mode: 'ask',
      tool_definitions: [],
      default_runner_executor_public_id: null,
    });
    const task = await taskNow(
      node,
      strict,
      { run_public_id: restoration.run_public_id, task_key: local.executor.id },
      10_000,
    );
    expect(task).toMatchObject({
      tool_name: 'checkpoint_restore',
      status: 'completed',
      target: { executor_public_id: local.executor.id },
      approval: { origin: 'kernel', decided_at: expect.any(String) },
    });
    expect(await local.text('strict.txt')).toBeUndefined();
    const audit = ok(await node.http('GET', '/platform_api/v1/audit', { token: account.platformToken }));
    expect(audit.text).toContain('restoration.started');
  });

  it('settles each target on its own: one that fails or is not there undoes no other', async () => {
    const [bare, gone, silent, revoked] = [
      await announcedRunner(),
      await announcedRunner(),
      await announcedRunner(),
      await announcedRunner(),
    ];
    const conversation = await newConversation();
    const run = await newRun(conversation);
    await writtenLocally(run, 'partial.txt', 'x');
    const checkpoint = { z: 1.5, a: [{}] };
    await written(run, fake, { checkpoint });
    await written(run, bare);
    await written(run, silent, { checkpoint: null });
    await written(run, gone, { checkpoint });
    await written(run, revoked, { checkpoint });
    await announce(node, gone, [tool('write', { effect_profile: WRITE })]);
    await revoke(revoked);
    const restoration = await started(conversation, run);
    expect(restoration).toMatchObject({ status: 'running' });
    const statuses = (targets: readonly Target[]): string[] =>
      targets.map(({ status, error }) => [status, ...(error ? [error.key] : [])].join(' '));
    expect(statuses(restoration.targets).slice(2)).toEqual([
      'unavailable no_checkpoint',
      'unavailable no_checkpoint',
      'unavailable tool_not_served',
      'unavailable runner_not_eligible',
    ]);
    const input = await answered(fake, restoration, { is_error: true, content: 'the disk is full' });
    expect(input).toEqual({ checkpoint });
    const ended = await settled(conversation, restoration);
    expect(ended.status).toBe('partial');
    expect(statuses(ended.targets).slice(0, 2)).toEqual(['restored', 'failed tool_failed']);
    expect(ended.targets[1]).toEqual({
      runner_executor_public_id: fake.id,
      status: 'failed',
      task_key: fake.id,
      error: { key: 'tool_failed', detail: 'the disk is full' },
    });
    expect(await local.text('partial.txt')).toBeUndefined();
  });

  it('is partial with two runners of which one refuses to overwrite what it could not undo', async () => {
    const other = await LocalRunner.start(node, account, 'other');
    try {
      const conversation = await newConversation();
      const run = await newRun(conversation);
      const at = (runner: LocalRunner, command: string) =>
        accept(node, agent, run, [toolStep('bash', runner.executor, { input: { command } })]);
      await Promise.all([local.put('two.txt', 'old'), other.put('two.txt', 'old')]);
      for (const answer of [
        await at(local, 'printf new > two.txt'),
        await at(other, 'rm two.txt; ln -s /etc/hostname two.txt'),
      ])
        expect(await taskNow(node, agent, taskOf(answer), 10_000)).toMatchObject({ status: 'completed' });
      const ended = await settled(conversation, await started(conversation, run));
      const targetOf = (runner: LocalRunner) =>
        ended.targets.find(
          (target: { runner_executor_public_id: string }) =>
            target.runner_executor_public_id === runner.executor.id,
        );
      expect(ended.status).toBe('partial');
      // which of the two claimed first is not said
      expect(targetOf(local)).toMatchObject({ status: 'restored' });
      expect(targetOf(other)).toMatchObject({
        status: 'failed',
        error: { key: 'tool_failed', detail: expect.stringContaining('two.txt is a symbolic link') },
      });
      expect(await local.text('two.txt')).toBe('old');
    } finally {
      await other.remove();
    }
  });

  it('has failed when no target was restored, also where the runner went after it was called', async () => {
    const [lost, canceled] = [await announcedRunner(), await announcedRunner()];
    const conversation = await newConversation();
    const run = await newRun(conversation);
    await written(run, lost, { checkpoint: 1 });
    await written(run, canceled, { checkpoint: 2 });
    const restoration = await started(conversation, run);
    await revoke(lost);
    const stop = `/agent_api/v1/runs/${restoration.run_public_id}/stop`;
    ok(await node.http('POST', stop, { token: agent.token }));
    expect(await settled(conversation, restoration)).toMatchObject({
      status: 'failed',
      targets: [
        { status: 'unavailable', error: { key: 'executor_revoked' } },
        { status: 'failed', error: { key: 'canceled' } },
      ],
    });
  });

  it('asks only the runners that are named; one that was not touched left no checkpoint', async () => {
    const conversation = await newConversation();
    const run = await newRun(conversation);
    await writtenLocally(run, 'narrow.txt', 'x');
    await written(run, fake, { checkpoint: 'mine' });
    const unknown = newId();
    const restoration = await started(conversation, run, { runner_executor_public_ids: [unknown, fake.id] });
    expect(restoration.targets).toEqual([
      { runner_executor_public_id: fake.id, status: 'running', task_key: fake.id },
      { runner_executor_public_id: unknown, status: 'unavailable', error: { key: 'no_checkpoint' } },
    ]);
    await answered(fake, restoration, { content: 'done' });
    expect((await read(conversation, restoration.public_id)).status).toBe('partial');
    expect(await local.text('narrow.txt')).toBe('x');
  });

  it('has nothing to do where nothing was touched', async () => {
    const conversation = await newConversation();
    const restoration = await started(conversation, await newRun(conversation));
    expect(restoration).toMatchObject({ status: 'restored', targets: [] });
    expect(await read(conversation, restoration.public_id)).toEqual(restoration);
  });

  it('gives a checkpoint back byte for byte, and never looks inside', async () => {
    const conversation = await newConversation();
    const run = await newRun(conversation);
    const task = await parked(node, agent, run, toolStep('write', fake));
    const door = restDoor(node, fake);
    const claim_token = await claimed(door, task);
    const odd = '{ "z":1.0, "a":[ ] }';
    const commit = `{"claim_token":"${claim_token}","content":"done","metadata":{"checkpoint":${odd}}}`;
    const { run_public_id, task_key } = task;
    const path = `/agent_api/v1/executor/inbox/${run_public_id}/${task_key}/commit`;
    ok(await node.http('POST', path, { token: fake.token, body: commit }));
    const restoration = await started(conversation, run);
    const read = await node.http('GET', `/agent_api/v1/runs/${restoration.run_public_id}/tasks/${fake.id}`, {
      token: agent.token,
    });
    expect(read.text).toContain(`"tool_input":{"checkpoint":${odd}}`);
  });
});

describe('A checkpoint', () => {
  it('of more than 64 KiB of metadata is refused, and the park stands', async () => {
    const conversation = await newConversation();
    const task = await parked(node, agent, await newRun(conversation), toolStep('write', fake));
    const door = restDoor(node, fake);
    const claim_token = await claimed(door, task);
    const metadata = { checkpoint: 'x'.repeat(64 * 1024 + 1) };
    expect(codeOf(await door.ask('commit', { ...task, claim_token, metadata }))).toBe(
      '422 metadata_too_large',
    );
    expect(codeOf(await door.ask('commit', { ...task, claim_token, metadata: { checkpoint: 'x' } }))).toBe(
      '200',
    );
  });
});

describe('Who may restore', () => {
  it('the conversation’s agent, its steward and an administrator; to others the conversation is not there', async () => {
    const conversation = await newConversation();
    const run = await newRun(conversation);
    const body = { from_run_public_id: run };
    for (const member of [agent, steward, admin])
      expect(outcome(await start(conversation, body, member))).toBe('202');
    const strangers = [await newHuman(node, account), await newAgent(node, account)];
    const restoration = await started(conversation, run);
    for (const stranger of strangers) {
      expect(outcome(await start(conversation, body, stranger))).toBe('404 not_found');
      const path = `${pathOf(conversation)}/${restoration.public_id}`;
      expect(outcome(await node.http('GET', path, { token: stranger.token }))).toBe('404 not_found');
    }
    expect(outcome(await node.http('POST', pathOf(conversation), { body }))).toBe('401 unauthorized');
  });

  it('an administrator on a private runner of the steward, which they could not call themselves', async () => {
    const runner = await newRunner(node, account, {
      manager_public_id: steward.id,
      assignment_scope: 'user_private',
    });
    await announce(node, runner, TOOLS);
    const conversation = await newConversation();
    const run = await newRun(conversation);
    await written(run, runner, { checkpoint: 1 });
    expect(outcome(await accept(node, admin, run, [toolStep('write', runner)]))).toBe(
      '422 runner_not_eligible',
    );
    const restoration = await started(conversation, run, {}, admin);
    expect(restoration.targets).toMatchObject([{ status: 'running' }]);
  });

  it('no agent by a call of its own: checkpoint_restore stays an operator capability', async () => {
    const run = await newRun(await newConversation());
    const step = toolStep('checkpoint_restore', local.executor, { input: { checkpoint: {} } });
    expect(outcome(await accept(node, agent, run, [step]))).toBe('403 person_required');
  });

  it('nobody where a rule denies it: the target has failed, and was never asked', async () => {
    const ruled = await newAgent(node, account, {
      approval_floor: 'bypass',
      approval_rules: [{ tool: 'checkpoint_*', verdict: 'deny', reason: 'not here' }],
    });
    const conversation = await newConversation(ruled);
    const run = await newRun(conversation, ruled);
    await writtenLocally(run, 'ruled.txt', 'x', ruled);
    expect(await started(conversation, run, {}, ruled)).toMatchObject({
      status: 'failed',
      targets: [{ status: 'failed', error: { key: 'approval_denied', detail: 'not here' } }],
    });
    expect(await local.text('ruled.txt')).toBe('x');
  });
});

describe('A request to restore', () => {
  it('repeated under its Idempotency-Key answers the first answer, and restores once', async () => {
    const conversation = await newConversation();
    const run = await newRun(conversation);
    await written(run, fake, { checkpoint: 1 });
    const body = { from_run_public_id: run };
    const headers = { 'idempotency-key': newId() };
    const [first, second] = [
      await start(conversation, body, agent, headers),
      await start(conversation, body, agent, headers),
    ];
    expect([first.status, second.status, second.text]).toEqual([202, 202, first.text]);
    expect(second.headers['idempotency-replayed']).toBe('true');
    const other = { ...body, runner_executor_public_ids: [fake.id] };
    expect(outcome(await start(conversation, other, agent, headers))).toBe('409 idempotency_conflict');
    const { rows } = await node.db.pool.query('select id from restorations where conversation_id = $1', [
      conversation,
    ]);
    expect(rows).toHaveLength(1);
  });

  it.each([
    ['nothing', {}, '400 parameter_missing'],
    ['a run that is no UUID', { from_run_public_id: 'x' }, '422 validation_failed'],
    ['an unknown run', { from_run_public_id: newId() }, '404 not_found'],
    ['runners that are no list', { runner_executor_public_ids: 'x' }, '422 validation_failed'],
    ['no runners', { runner_executor_public_ids: [] }, '422 validation_failed'],
    ['a runner that is no UUID', { runner_executor_public_ids: ['x'] }, '422 validation_failed'],
    [
      'a runner twice',
      { runner_executor_public_ids: [newId()].flatMap((id) => [id, id]) },
      '422 validation_failed',
    ],
  ])('with %s is refused', async (_, fields, expected) => {
    const conversation = await newConversation();
    const from_run_public_id = await newRun(conversation);
    const body = 'runner_executor_public_ids' in fields ? { from_run_public_id, ...fields } : fields;
    expect(outcome(await start(conversation, body))).toBe(expected);
  });

  it('from a run of another conversation, or a restoration of another one, is not found', async () => {
    const [one, two] = [await newConversation(), await newConversation()];
    const run = await newRun(one);
    expect(outcome(await start(two, { from_run_public_id: run }))).toBe('404 not_found');
    const { public_id } = await started(one, run);
    for (const path of [`${pathOf(two)}/${public_id}`, `${pathOf(one)}/${newId()}`, `${pathOf(one)}/x`])
      expect(outcome(await node.http('GET', path, { token: agent.token }))).toBe('404 not_found');
  });

  it('is refused once the evidence is pruned; a restoration whose run was pruned is gone too', async () => {
    const conversation = await newConversation();
    const run = await newRun(conversation);
    await writtenLocally(run, 'pruned.txt', 'x');
    const restoration = await settled(conversation, await started(conversation, run));
    for (const old of [run, restoration.run_public_id]) await age(node, old, 91);
    await prune(node, account);
    expect(outcome(await start(conversation, { from_run_public_id: run }))).toBe(
      '410 execution_details_pruned',
    );
    const path = `${pathOf(conversation)}/${restoration.public_id}`;
    expect(outcome(await node.http('GET', path, { token: agent.token }))).toBe(
      '410 execution_details_pruned',
    );
  });
});
