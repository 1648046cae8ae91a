import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { headers } from 'nats';
import { ToolRequests } from '../../src/bus/tool-requests.js';
import type { AccountId } from '../../src/db/account-id.js';
import { KeyedDatabase } from '../../src/db/keyed-database.js';
import { connectRunner, type Registration, type ServedTool } from '../../src/runner/sdk/index.js';
import type { ExecutorCaller } from '../../src/doors/caller.js';
import { jobLane } from '../../src/work/job-lane.js';
import { releaseCalls, type ReleaseJob } from '../../src/work/delivery/release.sql.js';
import { claimOn } from '../../src/work/task-claim.js';
import { Redelivery } from '../../src/work/delivery/redelivery.service.js';
import { DeliveredCalls } from '../../src/work/delivery/delivered-calls.service.js';
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
  READ_ONLY,
  type TestAccount,
  type TestExecutor,
  type TestMember,
  tool,
  withToken,
  WRITE,
} from '../support/factories.js';
import { TestNode } from '../support/node.js';
import { announceServe, Server } from './serve-stage.js';
import {
  claimed,
  codeOf,
  newToken,
  parked,
  pastDeadline,
  restDoor,
  taskNow,
  type TaskName,
} from './stage.js';

let one: TestNode;
let two: TestNode;
let account: TestAccount;
let agent: TestMember;
let steward: TestMember;
let runner: TestExecutor;
let run: string;
let servers: Server[];

beforeAll(async () => {
  one = await TestNode.start();
  two = await TestNode.start({}, one);
  account = await firstAccount(one);
  agent = await newAgent(one, account, { approval_floor: 'bypass' });
  steward = await withToken(one, account, account.adminId);
}, 60_000);

afterAll(async () => {
  await two?.close();
  await one?.close();
});

beforeEach(async () => {
  servers = [];
  runner = await newRunner(one, account);
});

afterEach(() => Promise.all(servers.map((server) => server.close())));

/** The runner's program. */
async function server(executor = runner): Promise<Server> {
  const made = await Server.connect(executor);
  servers.push(made);
  return made;
}

/** Announces `serve` and makes the run; nobody listens yet. */
async function announced(names = ['echo'], fields: object = {}, each: object = {}): Promise<void> {
  await announceServe(one, runner, names, fields, each);
  run = await newRun(one, agent, runner);
}

/** A row as the database has it. */
async function rowOf({ run_public_id, task_key }: TaskName): Promise<Record<string, unknown>> {
  const { rows } = await one.db.pool.query<Record<string, unknown>>(
    `select * from tasks where run_id = $1 and task_key = $2`,
    [run_public_id, task_key],
  );
  return rows[0] as Record<string, unknown>;
}

async function accountId(): Promise<AccountId> {
  const { rows } = await one.db.pool.query<{ id: AccountId }>('select id from accounts limit 1');
  return rows[0]?.id as AccountId;
}

const call = (step: object = {}, node = one): Promise<TaskName> =>
  parked(node, agent, run, callStep('echo', step));

/** The task once `holds` is true of it: looked at after each change. */
async function until(
  task: TaskName,
  holds: (row: Record<string, unknown>) => boolean,
): Promise<Record<string, unknown>> {
  for (;;) {
    const row = await rowOf(task);
    if (holds(row)) return row;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

const isFree = (row: Record<string, unknown>): boolean => row['claimed_by'] === null;

describe('delivery serve', () => {
  it('sends tool_input byte for byte to the tool’s own subject, with run, task, claim token and remaining time', async () => {
    await announced(['echo'], {}, { timeout_ms: 5_000 });
    const program = await server();
    await program.serve('echo');
    const input = '{"b": 1.0,  "a": "\\u00e9", "n": 12345678901234567890}';
    const text = `{"steps": [{"call": {"name": "echo", "key": "verbatim", "input": ${input}}}]}`;
    ok(await one.http('POST', `/agent_api/v1/runs/${run}/tasks`, { token: agent.token, body: text }));
    const [heard] = await program.heard(1);
    expect(heard).toMatchObject({ run_public_id: run, task_key: 'verbatim', input });
    expect(heard?.token).toMatch(/^[A-Za-z0-9_-]{22,128}$/);
    expect(heard?.timeoutMs).toBeGreaterThan(4_000);
    expect(heard?.timeoutMs).toBeLessThanOrEqual(5_000);
    expect(heard?.message.subject).toBe(`${runner.subjects.tool}.echo`);
    expect(heard?.message.reply).toMatch(/^_INBOX\.nexus\./);
  });

  it('is accepted and claimed for the executor in one statement', async () => {
    await announced();
    const program = await server();
    await program.serve('echo');
    await call();
    const seen: string[] = [];
    const { pool } = one.app.get(KeyedDatabase);
    const query = pool.query.bind(pool) as (...args: unknown[]) => unknown;
    pool.query = ((...args: unknown[]) => {
      const { name } = args[0] as { name?: string };
      seen.push(name ?? '');
      return query(...args);
    }) as typeof pool.query;
    try {
      const task = taskOf(await accept(one, agent, run, [callStep('echo')]));
      expect(task).toMatchObject({
        status: 'dispatched',
        claimed_by: { executor_public_id: runner.id },
        claimed_at: task['accepted_at'],
      });
      const [, second] = await program.heard(2);
      const commit = { ...nameOf(task), claim_token: second?.token, content: 'fine' };
      expect((await restDoor(one, runner).ask('commit', commit)).status).toBe(200);
    } finally {
      pool.query = query as typeof pool.query;
    }
    const ofTheCall = seen.filter((name) => !/sweep|waiting_executors/.test(name));
    expect(ofTheCall).toEqual(['accept_tasks', 'work_commit']);
  });

  it('takes the reply as the result', async () => {
    await announced();
    const program = await server();
    await program.serve('echo', (heard) =>
      heard.reply(`{"content": "fine", "structured_content": {"n": 1.0}, "title": "T"}`),
    );
    const answer = await one.http('GET', await urlOf(await call(), 10_000), { token: agent.token });
    expect(answer.body.task).toMatchObject({
      status: 'completed',
      content: 'fine',
      is_error: false,
      title: 'T',
    });
    expect(answer.text).toContain('"structured_content":{"n": 1.0}');
  });

  it.each([
    ['text', 'plain words', { content: 'plain words', is_error: false, status: 'completed' }],
    [
      'a JSON object that says nothing of a result',
      '{"celsius":20}',
      { content: '{"celsius":20}', status: 'completed' },
    ],
    ['a JSON number', '42', { content: '42', status: 'completed' }],
    ['bytes that are no UTF-8', new Uint8Array([0xff, 0x41]), { content: '\ufffdA', status: 'completed' }],
    [
      'an outcome',
      '{"outcome":"failed","content":"no"}',
      { status: 'failed', content: 'no', error: { key: 'tool_failed' } },
    ],
  ])('takes %s as what it says', async (_, payload, expected) => {
    await announced();
    const program = await server();
    await program.serve('echo', (heard) => heard.reply(payload));
    expect(await taskNow(one, agent, await call(), 10_000)).toMatchObject(expected);
  });

  it('takes an empty reply as a result without content', async () => {
    await announced();
    const program = await server();
    await program.serve('echo', (heard) => heard.reply());
    const task = await taskNow(one, agent, await call(), 10_000);
    expect(task).toMatchObject({ status: 'completed', is_error: false });
    expect(task).not.toHaveProperty('content');
  });

  it('takes the headers of a service’s error as is_error', async () => {
    await announced();
    const program = await server();
    const head = { 'Nats-Service-Error': 'disk full', 'Nats-Service-Error-Code': '500' };
    await program.serve('echo', (heard) => heard.reply('/dev/sda1', head));
    const task = await taskNow(one, agent, await call(), 10_000);
    expect(task).toMatchObject({ status: 'completed', is_error: true, content: 'disk full\n/dev/sda1' });
  });

  it.each([
    [
      'content that is none',
      '{"content": 7}',
      { status: 'completed', is_error: true, content: expect.stringContaining('content must be') },
    ],
    [
      'more than a result may be',
      JSON.stringify({ content: 'x'.repeat(790_000) }),
      { is_error: true, content: expect.stringContaining('786432') },
    ],
    ['a NUL', '{"content": "a\\u0000b"}', { status: 'failed', error: { key: 'result_unstorable' } }],
    ['a NUL in text', 'a\0b', { status: 'failed', error: { key: 'result_unstorable' } }],
  ])('settles visibly what a commit would be refused for: %s', async (_, payload, expected) => {
    await announced();
    const program = await server();
    await program.serve('echo', (heard) => heard.reply(payload));
    expect(await taskNow(one, agent, await call(), 10_000)).toMatchObject(expected);
  });

  it('takes a commit by the verb with the token, and its repeats; what is replied afterwards changes nothing', async () => {
    await announced();
    const program = await server();
    await program.serve('echo');
    const before = one.app.get(DeliveredCalls).count;
    const task = await call();
    const [heard] = await program.heard(1);
    const commit = { ...task, claim_token: heard?.token, content: 'by the verb' };
    for (let tries = 0; tries < 2; tries += 1) {
      const answer = await program.ask('commit', commit);
      expect(answer.body.task).toMatchObject({ status: 'completed', content: 'by the verb' });
    }
    heard?.reply('by the reply');
    await program.connection.flush();
    expect(await taskNow(one, agent, task)).toMatchObject({ content: 'by the verb' });
    expect(one.app.get(DeliveredCalls).count).toBe(before);
  });

  it('settles once where a reply and a commit by the verb race', async () => {
    await announced(['echo'], { max_in_flight: 64 });
    const program = await server();
    const commits: Promise<unknown>[] = [];
    await program.serve('echo', (heard) => {
      const { run_public_id, task_key, token: claim_token } = heard;
      const commit = (): void => {
        commits.push(program.ask('commit', { run_public_id, task_key, claim_token, content: 'verb' }));
      };
      if (commits.length % 2 === 0) commit();
      heard.reply('reply');
      if (commits.length % 2 === 1) commit();
    });
    const tasks = await Promise.all(
      Array.from({ length: 24 }, (_, index) => call({}, index % 2 === 0 ? one : two)),
    );
    for (const task of tasks) {
      const settled = await taskNow(one, agent, task, 10_000);
      expect(settled.status).toBe('completed');
      expect(await taskNow(two, agent, task)).toEqual(settled);
    }
    await Promise.all(commits);
  });

  it('an extension by the verb moves the node’s wait with the deadline', async () => {
    await announced(['echo'], {}, { timeout_ms: 600 });
    const program = await server();
    await program.serve('echo');
    const task = await call();
    const [heard] = await program.heard(1);
    const extended = { ...task, claim_token: heard?.token, timeout_ms: 600 };
    for (let times = 0; times < 3; times += 1) {
      await new Promise((resolve) => setTimeout(resolve, 350));
      expect((await program.ask('extend', extended)).status).toBe(200);
      await one.app.get(DeliveredCalls).lookUpOverdue();
    }
    heard?.reply('late, and in time');
    expect(await taskNow(one, agent, task, 5_000)).toMatchObject({
      status: 'completed',
      content: 'late, and in time',
    });
  });

  it('an executor that keeps silent settles at the deadline by the expiry rule', async () => {
    await announced(['echo', 'change'], {}, { effect_profile: WRITE, timeout_ms: 300 });
    const program = await server();
    await program.serve('echo');
    const task = await call();
    await program.heard(1);
    expect(await taskNow(one, agent, task, 5_000)).toMatchObject({
      status: 'uncertain',
      error: { key: 'tool_uncertain' },
    });
  });

  it('a late reply of a write leaves its checkpoint, and nothing else', async () => {
    await announced(['echo'], {}, { effect_profile: WRITE, timeout_ms: 300 });
    const program = await server();
    await program.serve('echo');
    const task = await call();
    const [heard] = await program.heard(1);
    await taskNow(one, agent, task, 5_000);
    heard?.reply('{"content": "late", "metadata": {"checkpoint": {"at": 1}}}');
    const row = await until(task, ({ capture_checkpoint }) => capture_checkpoint !== null);
    expect(row).toMatchObject({ status: 'uncertain', content: null, capture_checkpoint: { at: 1 } });
  });

  it('reaches an agent’s application under its name', async () => {
    const application = await newExecutor(one, account, {
      kind: 'agent_application',
      display_name: 'App',
      agent_public_id: agent.id,
      registration_identifier: 'app',
      assignment_scope: 'user_private',
    });
    await announceServe(one, application, ['send_mail']);
    const program = await server(application);
    await program.serve('send_mail', (heard) => heard.reply('sent'));
    run = await newRun(one, agent, null);
    const task = await parked(one, agent, run, toolStep('send_mail'));
    expect(await taskNow(one, agent, task, 10_000)).toMatchObject({
      content: 'sent',
      addressed_to: { role: 'agent_application' },
      claimed_by: { executor_public_id: application.id },
    });
  });

  it('is not for pools', async () => {
    const provider = await newExecutor(one, account, {
      kind: 'tool_provider',
      display_name: 'Pool',
      manager_public_id: account.adminId,
      registration_identifier: 'pool',
      assignment_scope: 'account_wide',
    });
    const body = { tools: [tool('pooled')], delivery: 'serve' };
    const answer = await one.http('PUT', '/agent_api/v1/executor/announcement', {
      token: provider.token,
      body,
    });
    expect(outcome(answer)).toBe('422 invalid_announcement');
  });

  it('a write leaves the capture in the statement that accepts it', async () => {
    await announced(['echo'], {}, { effect_profile: WRITE });
    const program = await server();
    await program.serve('echo');
    const row = await rowOf(await call());
    expect(row).toMatchObject({ capture_generation: 1, capture_runner_id: runner.id, claimed_by: runner.id });
    expect(row['capture_claimed_at']).toEqual(row['claimed_at']);
    const { body } = ok(await one.http('GET', `/agent_api/v1/runs/${run}`, { token: agent.token }));
    expect(body.run.runner_effects).toMatchObject({ status: 'touched' });
  });

  it('of a clone with the same credentials one hears each call', async () => {
    await announced(['echo'], { max_in_flight: 64 });
    const programs = [await server(), await server()];
    for (const program of programs) await program.serve('echo', (heard) => heard.reply('done'));
    const tasks = await Promise.all(Array.from({ length: 20 }, () => call()));
    for (const task of tasks) expect((await taskNow(one, agent, task, 10_000)).status).toBe('completed');
    expect(
      programs
        .flatMap(({ calls }) => calls)
        .map(({ task_key }) => task_key)
        .sort(),
    ).toEqual(tasks.map(({ task_key }) => task_key).sort());
  });

  it('takes the stock services client’s handlers as servers', async () => {
    await announced(['echo', 'fail']);
    const program = await server();
    const service = await program.connection.services.add({ name: 'tools', version: '1.0.0' });
    const group = service.addGroup(runner.subjects.tool);
    group.addEndpoint('echo', (fault, message) => void (fault ?? message.respond(message.data)));
    group.addEndpoint('fail', (fault, message) => void (fault ?? message.respondError(418, 'a teapot')));
    await program.connection.flush();
    expect(await taskNow(one, agent, await call({ input: { a: 1 } }), 10_000)).toMatchObject({
      content: '{"a":1}',
    });
    const failed = await parked(one, agent, run, callStep('fail'));
    expect(await taskNow(one, agent, failed, 10_000)).toMatchObject({ content: 'a teapot', is_error: true });
  });
});

describe('a size', () => {
  it('of an input as large as it may be is delivered', async () => {
    await announced();
    const program = await server();
    await program.serve('echo', ({ input, reply }) => reply(String(input.length)));
    const text = 'x'.repeat(256 * 1024 - 11);
    const task = await call({ input: { text } });
    expect(await taskNow(one, agent, task, 10_000)).toMatchObject({ content: String(256 * 1024) });
  });

  it('of a reply as large as the bus carries settles visibly', async () => {
    await announced();
    const program = await server();
    const { max_payload } = program.connection.info as { max_payload: number };
    await program.serve('echo', ({ reply }) => reply('x'.repeat(max_payload)));
    expect(await taskNow(one, agent, await call(), 10_000)).toMatchObject({
      status: 'completed',
      is_error: true,
      content: expect.stringContaining('786432'),
    });
  });

  it('that the bus does not carry leaves a call to a claim by the verb, and keeps nobody from theirs', async () => {
    const nodes = [one, two].map((node) => node.app.get(ToolRequests));
    const sizes = nodes.map((requests) => jest.spyOn(requests, 'mostBytes').mockReturnValue(1_000));
    try {
      await announced();
      const program = await server();
      await program.serve('echo', ({ reply }) => reply('small'));
      const large = await call({ input: { text: 'x'.repeat(2_000) } });
      const small = await call();
      expect(await taskNow(one, agent, small, 10_000)).toMatchObject({ content: 'small' });
      const claim_token = await claimed(restDoor(one, runner), large);
      const commit = { ...large, claim_token, content: 'large' };
      expect((await restDoor(one, runner).ask('commit', commit)).status).toBe(200);
      expect(program.calls.length).toBe(1);
    } finally {
      for (const size of sizes) size.mockRestore();
    }
  });
});

describe('the runner SDK', () => {
  const registrationOf = (
    { id, token, epoch, bus }: TestExecutor,
    kind: 'runner' | 'tool_provider' = 'runner',
  ): Registration => ({
    executor: {
      public_id: id,
      kind,
      credential_epoch: epoch,
      modules: ['tools'],
      machine: 'here',
      assignment_scope: 'account_wide',
    },
    secret: token,
    bus,
  });

  const echo = { ...(tool('echo') as ServedTool), handler: (input: unknown) => JSON.stringify(input) };

  it('serves by default: what it is delivered it commits by the verb', async () => {
    const connected = await connectRunner({
      registration: registrationOf(runner),
      maxConcurrent: 64,
    });
    try {
      await connected.announce({ tools: [echo] });
      run = await newRun(one, agent, runner);
      const tasks = await Promise.all(
        Array.from({ length: 100 }, (_, n) => call({ input: { n } }, n % 2 === 0 ? one : two)),
      );
      for (const [n, task] of tasks.entries()) {
        expect(await taskNow(one, agent, task, 10_000)).toMatchObject({ content: `{"n":${n}}` });
      }
      const { rows } = await one.db.pool.query(
        'select count(*)::int as delivered from tasks where run_id = $1 and deadline_before_delivery is not null',
        [run],
      );
      expect(rows).toEqual([{ delivered: 100 }]);
      expect(connected.endpoints[0]?.stats.toJSON()).toMatchObject({ num_requests: 100, num_errors: 0 });
    } finally {
      await connected.close();
    }
  });

  it('takes what waited for it when it comes, and leaves what comes when it has gone', async () => {
    await announced();
    const waiting = await call();
    await until(waiting, isFree);
    const connected = await connectRunner({ registration: registrationOf(runner) });
    await connected.announce({ tools: [echo] });
    expect(await taskNow(one, agent, waiting, 5_000)).toMatchObject({ status: 'completed' });
    await connected.close();
    await until(await call(), isFree);
  });

  it('claims as a member of a pool', async () => {
    const provider = await newExecutor(one, account, {
      kind: 'tool_provider',
      display_name: 'Member',
      manager_public_id: account.adminId,
      registration_identifier: newToken(),
      assignment_scope: 'account_wide',
    });
    const connected = await connectRunner({ registration: registrationOf(provider, 'tool_provider') });
    try {
      await connected.announce({ tools: [{ ...echo, name: 'pooled_echo' }] });
      run = await newRun(one, agent, null);
      const task = await parked(one, agent, run, toolStep('pooled_echo'));
      expect(await taskNow(one, agent, task, 10_000)).toMatchObject({ status: 'completed', content: '{}' });
    } finally {
      await connected.close();
    }
  });
});

describe('no responders', () => {
  it('releases the claim: the deadline that stood before, the capture withdrawn, and the call waits', async () => {
    await announced(['echo'], {}, { effect_profile: WRITE, timeout_ms: 60_000 });
    const started = performance.now();
    const task = await call();
    const row = await until(task, isFree);
    expect(performance.now() - started).toBeLessThan(1_000);
    expect(row).toMatchObject({
      status: 'dispatched',
      generation: 1,
      claim_epoch: null,
      claim_token_sha256: null,
      claimed_at: null,
      deadline_before_delivery: null,
      capture_generation: null,
      capture_runner_id: null,
      capture_claimed_at: null,
    });
    expect(Number(row['deadline_at']) - Number(row['accepted_at'])).toBe(60_000);
    const { body } = ok(await one.http('GET', `/agent_api/v1/runs/${run}`, { token: agent.token }));
    expect(body.run.runner_effects).toEqual({ status: 'untouched', runners: [] });
  });

  it('its inbox and claim stay open to the executor', async () => {
    await announced();
    const task = await call();
    await until(task, isFree);
    const door = restDoor(one, runner);
    // one that was kept from it for a moment asks again
    for (;;) {
      const { body } = await door.ask('inbox');
      if (body.tasks[0]?.claimed === false) break;
    }
    const claim_token = newToken();
    for (;;) {
      const answer = await door.ask('claim', { ...task, claim_token });
      if (answer.status === 200) break;
      expect(codeOf(answer)).toBe('409 already_claimed');
    }
    expect((await door.ask('commit', { ...task, claim_token, content: 'by REST' })).status).toBe(200);
  });

  it('the capture of an earlier generation stays', async () => {
    await announced(['echo'], {}, { effect_profile: WRITE, timeout_ms: 200 });
    const program = await server();
    await program.serve('echo');
    const task = await call();
    await taskNow(one, agent, task, 5_000);
    await program.close();
    ok(await one.http('POST', `${await urlOf(task)}/retry`, { token: agent.token, body: {} }));
    const row = await until(task, (now) => isFree(now) && now['generation'] === 2);
    expect(row).toMatchObject({ capture_generation: 1, capture_runner_id: runner.id });
  });

  it('a call with many neighbours releases all of them', async () => {
    await announced(['echo'], { max_in_flight: 64 });
    const tasks = await Promise.all(
      Array.from({ length: 40 }, (_, index) => call({}, index % 2 === 0 ? one : two)),
    );
    for (const task of tasks) await until(task, isFree);
  });

  it('is delivered on the executor’s next announcement', async () => {
    await announced();
    const task = await call();
    await until(task, isFree);
    const program = await server();
    await program.serve('echo', (heard) => heard.reply('here'));
    await announceServe(two, runner, ['echo']);
    expect(await taskNow(one, agent, task, 1_000)).toMatchObject({ status: 'completed', content: 'here' });
  });

  it('is delivered on any verb of it', async () => {
    await announced();
    const tasks = await Promise.all(Array.from({ length: 20 }, () => call()));
    for (const task of tasks) await until(task, isFree);
    const program = await server();
    await program.serve('echo', (heard) => heard.reply('here'));
    await program.ask('describe');
    for (const task of tasks) {
      expect(await taskNow(one, agent, task, 2_000)).toMatchObject({ status: 'completed', content: 'here' });
    }
  });

  it('is delivered once it was seen on the bus', async () => {
    await announced();
    const task = await call();
    await until(task, isFree);
    const program = await server();
    await program.serve('echo', (heard) => heard.reply('here'));
    one.app.get(Redelivery).seen(runner.id);
    expect(await taskNow(one, agent, task, 2_000)).toMatchObject({ status: 'completed' });
  });

  it('is delivered within 5 s where nothing was heard of it, the oldest call first', async () => {
    await announced();
    const tasks = [await call(), await call(), await call()];
    for (const task of tasks) await until(task, isFree);
    // past the try that follows the first call nobody heard
    await new Promise((resolve) => setTimeout(resolve, 600));
    const program = await server();
    await program.serve('echo', (heard) => heard.reply('here'));
    for (const task of tasks)
      expect(await taskNow(one, agent, task, 7_000)).toMatchObject({ status: 'completed' });
    expect(program.calls.map(({ task_key }) => task_key)).toEqual(tasks.map(({ task_key }) => task_key));
  }, 15_000);

  it('is delivered once, whichever of two nodes tries', async () => {
    await announced(['echo'], { max_in_flight: 64 });
    const tasks = await Promise.all(
      Array.from({ length: 30 }, (_, index) => call({}, index % 2 === 0 ? one : two)),
    );
    for (const task of tasks) await until(task, isFree);
    const program = await server();
    await program.serve('echo');
    const id = await accountId();
    for (let times = 0; times < 5; times += 1) {
      for (const node of [one, two]) node.app.get(Redelivery).wake(id, runner.id);
    }
    await program.heard(30);
    for (const { reply } of program.calls) reply('once');
    for (const task of tasks)
      expect(await taskNow(two, agent, task, 5_000)).toMatchObject({ status: 'completed' });
    expect(new Set(program.calls.map(({ task_key }) => task_key)).size).toBe(program.calls.length);
  });

  it('the clock restarts when it is delivered', async () => {
    await announced(['echo'], {}, { timeout_ms: 60_000 });
    const task = await call();
    const waiting = await until(task, isFree);
    const program = await server();
    await program.serve('echo');
    await announceServe(one, runner, ['echo']);
    await program.heard(1);
    const row = await rowOf(task);
    expect(Number(row['deadline_at']) - Number(row['claimed_at'])).toBe(60_000);
    expect(row['deadline_before_delivery']).toEqual(waiting['deadline_at']);
  });

  it('a tool that models do not see any more settles an agent’s waiting calls, and no person’s', async () => {
    await announced(['echo']);
    const task = await call();
    await until(task, isFree);
    const byPerson = taskOf(await accept(one, steward, run, [toolStep('echo', runner)]));
    await until(byPerson, isFree);
    const program = await server();
    await program.serve('echo');
    await announceServe(one, runner, ['echo'], {}, { description: undefined, input_schema: undefined });
    expect(await taskNow(one, agent, task, 2_000)).toMatchObject({
      status: 'failed',
      error: { key: 'tool_not_served', detail: 'only people call this tool now' },
    });
    const [delivered] = await program.heard(1);
    expect(delivered).toMatchObject({ task_key: byPerson.task_key });
  });

  it('a tool that is announced no more settles its waiting calls tool_not_served', async () => {
    await announced(['echo', 'other']);
    const task = await call();
    await until(task, isFree);
    await announceServe(one, runner, ['other']);
    expect(await taskNow(one, agent, task, 2_000)).toMatchObject({
      status: 'failed',
      error: { key: 'tool_not_served' },
    });
  });

  it('whoever was first at the deadline has settled it: no row changes', async () => {
    await announced(['echo'], {}, { effect_profile: WRITE });
    const task = await call();
    await until(task, isFree);
    await pastDeadline(one, task);
    expect(await taskNow(one, agent, task, 5_000)).toMatchObject({
      status: 'timed_out',
      error: { key: 'tool_timeout' },
    });
  });

  it('at the deadline the release and the sweep race, and one of them acts', async () => {
    await announced(['echo'], { max_in_flight: 64 });
    const program = await server();
    await program.serve('echo');
    await Promise.all(Array.from({ length: 32 }, () => call()));
    const calls = await program.heard(32);
    await one.db.pool.query(
      `update tasks set deadline_at = clock_timestamp() + (seq % 8) * interval '20 milliseconds' where run_id = $1`,
      [run],
    );
    const lane = jobLane<ReleaseJob>(one.app.get(KeyedDatabase), releaseCalls);
    const caller = { executorId: runner.id, epoch: 1, accountId: await accountId() } as ExecutorCaller;
    const released = await Promise.all(
      calls.map(async ({ run_public_id, task_key, token }) => {
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 160));
        const claim = claimOn(caller, run_public_id, task_key, token);
        return lane.run({ ...claim, generation: 1 });
      }),
    );
    for (const [index, task] of calls.entries()) {
      // what was released may have been delivered again; its old deadline is far
      if (released[index])
        expect(await rowOf(task)).toMatchObject({ status: 'dispatched', settled_at: null });
      else expect(await taskNow(one, agent, task, 5_000)).toMatchObject({ status: 'timed_out' });
    }
  });

  it('a runner cannot say it in the server’s place: the call it has heard stays claimed', async () => {
    await announced(['echo'], {}, { effect_profile: WRITE });
    const program = await server();
    await program.serve('echo');
    const task = await call();
    const [heard] = await program.heard(1);
    const forged = headers(503, 'No Responders');
    heard?.message.respond(undefined, { headers: forged });
    const settled = await taskNow(one, agent, task, 5_000);
    expect(settled).toMatchObject({ status: 'completed' });
    expect(await rowOf(task)).toMatchObject({ capture_runner_id: runner.id });
  });
});

describe('max_in_flight', () => {
  it('is how many calls are delivered at once, over all nodes; the rest wait in order', async () => {
    await announced(['echo'], { max_in_flight: 3 });
    const program = await server();
    let most = 0;
    let under = 0;
    await program.serve('echo', (heard) => {
      under += 1;
      most = Math.max(most, under);
      setTimeout(() => {
        under -= 1;
        heard.reply('done');
      }, 10);
    });
    const tasks = await Promise.all(
      Array.from({ length: 40 }, (_, index) => call({}, index % 2 === 0 ? one : two)),
    );
    for (const task of tasks) expect((await taskNow(one, agent, task, 10_000)).status).toBe('completed');
    expect(most).toBe(3);
  }, 30_000);

  it('of one request’s steps some are delivered and the rest wait', async () => {
    await announced(['echo'], { max_in_flight: 2 });
    const program = await server();
    await program.serve('echo');
    const steps = Array.from({ length: 5 }, () => callStep('echo'));
    const { body } = ok(await accept(one, agent, run, steps));
    expect(body.tasks.map(({ claimed_by }: { claimed_by?: object }) => claimed_by !== undefined)).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
    const [first] = await program.heard(2);
    first?.reply('done');
    const [, , third] = await program.heard(3);
    expect(third?.task_key).toBe(body.tasks[2].task_key);
  });

  it('a canceled call gives its place to the next', async () => {
    await announced(['echo'], { max_in_flight: 1 });
    const program = await server();
    await program.serve('echo');
    const first = await call();
    const second = await call();
    await program.heard(1);
    ok(await two.http('POST', `${await urlOf(first)}/cancel`, { token: agent.token, body: {} }));
    const [, next] = await program.heard(2);
    expect(next?.task_key).toBe(second.task_key);
  });

  it('of commits by the verb on another node too', async () => {
    await announced(['echo'], { max_in_flight: 1 });
    const program = await server();
    await program.serve('echo');
    const tasks = [await call(), await call(), await call()];
    for (const [index, task] of tasks.entries()) {
      const calls = await program.heard(index + 1);
      const commit = { ...task, claim_token: calls[index]?.token, content: 'fine' };
      expect((await restDoor(two, runner).ask('commit', commit)).status).toBe(200);
    }
  });
});

describe('the other ways to a delivery', () => {
  it('an approval', async () => {
    await announced(['echo'], {}, { effect_profile: WRITE });
    run = await newRun(one, agent, runner, { approval_mode: 'ask' });
    const program = await server();
    await program.serve('echo', (heard) => heard.reply('approved'));
    const task = await call();
    expect(program.calls).toEqual([]);
    ok(await one.http('POST', `${await urlOf(task)}/approve`, { token: steward.token, body: {} }));
    expect(await taskNow(one, agent, task, 5_000)).toMatchObject({ content: 'approved' });
  });

  it('a retry, with a new token', async () => {
    await announced();
    const program = await server();
    await program.serve('echo', (heard) => heard.reply('{"outcome": "failed"}'));
    const task = await call();
    await taskNow(one, agent, task, 5_000);
    ok(await one.http('POST', `${await urlOf(task)}/retry`, { token: agent.token, body: {} }));
    const [first, second] = await program.heard(2);
    expect(second?.task_key).toBe(first?.task_key);
    expect(second?.token).not.toBe(first?.token);
  });

  it('a run that is made with its steps, and a repeat under its key', async () => {
    await announced();
    const program = await server();
    await program.serve('echo', (heard) => heard.reply('once'));
    const body = {
      default_runner_executor_public_id: runner.id,
      configuration: { runner_executor_public_ids: [runner.id] },
      steps: [callStep('echo', { key: 'k' })],
    };
    const key = { 'idempotency-key': newToken() };
    const made = ok(await one.http('POST', '/agent_api/v1/runs', { token: agent.token, body, headers: key }));
    ok(await two.http('POST', '/agent_api/v1/runs', { token: agent.token, body, headers: key }));
    const task = { run_public_id: made.body.run.public_id as string, task_key: 'k' };
    expect(await taskNow(one, agent, task, 5_000)).toMatchObject({ content: 'once' });
    expect(program.calls.length).toBe(1);
  });

  it('an announcement that changes from claim to serve delivers what waits', async () => {
    await announce(one, runner, [tool('echo', { effect_profile: READ_ONLY })]);
    run = await newRun(one, agent, runner);
    const task = await call();
    const program = await server();
    await program.serve('echo', (heard) => heard.reply('served'));
    await announceServe(one, runner, ['echo']);
    expect(await taskNow(one, agent, task, 5_000)).toMatchObject({ content: 'served' });
  });

  it('a re-pair: what waits is delivered at the new epoch, what was delivered is nobody’s to continue', async () => {
    const identifier = newToken();
    const body = {
      kind: 'runner',
      display_name: 'Paired',
      manager_public_id: account.adminId,
      registration_identifier: identifier,
      assignment_scope: 'account_wide',
    };
    runner = await newExecutor(one, account, body);
    await announced(['echo'], { max_in_flight: 1 });
    const program = await server();
    await program.serve('echo');
    const held = await call();
    const waiting = await call();
    const [heard] = await program.heard(1);
    const paired = await newExecutor(two, account, body);
    expect(paired.epoch).toBe(2);
    const stale = { ...held, claim_token: heard?.token, content: 'stale' };
    expect(codeOf(await restDoor(one, paired).ask('commit', stale))).toBe('409 stale_claim');
    await pastDeadline(one, held);
    const next = await server(paired);
    await next.serve('echo', (again) => again.reply('new epoch'));
    await announceServe(one, paired, ['echo']);
    expect(await taskNow(one, agent, waiting, 5_000)).toMatchObject({ content: 'new epoch' });
  });

  it('an executor that shuts down is delivered nothing until it resumes', async () => {
    await announced();
    const task = await call();
    await until(task, isFree);
    const lifecycle = (verb: string): Promise<unknown> =>
      one.http('POST', `/platform_api/v1/executors/${runner.id}/${verb}`, {
        token: account.platformToken,
        body: {},
      });
    await lifecycle('shutdown');
    const program = await server();
    await program.serve('echo', (heard) => heard.reply('resumed'));
    await announceServe(one, runner, ['echo']);
    expect(await rowOf(task)).toMatchObject({ status: 'dispatched', claimed_by: null });
    expect(program.calls).toEqual([]);
    await lifecycle('resume');
    expect(await taskNow(one, agent, task, 5_000)).toMatchObject({ content: 'resumed' });
  });

  it('a human’s own call of an operator capability', async () => {
    const human = await newHuman(one, account);
    await announce(one, runner, [{ name: 'reboot', effect_profile: WRITE }], { delivery: 'serve' });
    const program = await server();
    await program.serve('reboot', (heard) => heard.reply('rebooting'));
    const own = await newRun(one, human, null);
    const task = await parked(one, human, own, toolStep('reboot', runner));
    expect(await taskNow(one, human, task, 5_000)).toMatchObject({ content: 'rebooting' });
  });
});

const nameOf = ({ run_public_id, task_key }: TaskName): TaskName => ({ run_public_id, task_key });

const urlOf = ({ run_public_id, task_key }: TaskName, waitMs?: number): Promise<string> =>
  Promise.resolve(
    `/agent_api/v1/runs/${run_public_id}/tasks/${task_key}${waitMs === undefined ? '' : `?wait_ms=${waitMs}`}`,
  );
