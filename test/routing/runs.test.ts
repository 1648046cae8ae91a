import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { NodeEvents } from '../../src/bus/node-events.js';
import { newId } from '../../src/db/ids.js';
import { acceptTasks } from '../../src/routing/accept-tasks.sql.js';
import { readTasks } from '../../src/routing/read-tasks.sql.js';
import { cancelOpenTasks } from '../../src/routing/stop-run.sql.js';
import { TaskWaits } from '../../src/routing/task-waits.js';
import { secondAccount } from '../discovery/second-account.js';
import { type BusClient } from '../support/bus-client.js';
import {
  announce,
  firstAccount,
  newAgent,
  newHuman,
  newRun,
  newRunner,
  ok,
  onBus,
  type TestAccount,
  type TestExecutor,
  type TestMember,
  tool,
  withToken,
  WRITE,
} from '../support/factories.js';
import { type HttpAnswer, TestNode } from '../support/node.js';
import { SseReader } from './sse-reader.js';
import { accept, callStep, claim, outcome, settle, type TaskBody, toolStep } from './stage.js';

const RUNS = '/agent_api/v1/runs';
const CONVERSATIONS = '/agent_api/v1/conversations';

let one: TestNode;
let two: TestNode;
let account: TestAccount;
let other: TestAccount;
let admin: TestMember;
let steward: TestMember;
let agent: TestMember;
let runner: TestExecutor;
const opened: SseReader[] = [];
const clients: BusClient[] = [];

beforeAll(async () => {
  one = await TestNode.start();
  two = await TestNode.start({}, one);
  account = await firstAccount(one);
  other = await secondAccount(one);
  admin = await withToken(one, account, account.adminId);
  steward = await newHuman(one, account);
  agent = await newAgent(one, account, { approval_floor: 'bypass', steward_public_id: steward.id });
  runner = await newRunner(one, account);
  await announce(one, runner, [tool('read'), tool('bash', { effect_profile: WRITE })]);
});

afterEach(() => {
  for (const reader of opened.splice(0)) reader.close();
});

afterAll(async () => {
  for (const client of clients) await client.close();
  await two?.close();
  await one?.close();
});

const get = (member: { token: string }, path: string, node = one): Promise<HttpAnswer> =>
  node.http('GET', path, { token: member.token });

const readRun = async (member: TestMember, id: string, node = one): Promise<Record<string, unknown>> =>
  (ok(await get(member, `${RUNS}/${id}`, node)).body as { run: Record<string, unknown> }).run;

const readOne = async (
  member: TestMember,
  run: string,
  key: string,
  wait = 0,
  node = one,
): Promise<TaskBody> =>
  (ok(await get(member, `${RUNS}/${run}/tasks/${key}?wait_ms=${wait}`, node)).body as { task: TaskBody })
    .task;

const stop = (member: TestMember, run: string, node = one): Promise<HttpAnswer> =>
  node.http('POST', `${RUNS}/${run}/stop`, { token: member.token });

const conversation = async (member: TestMember, body: object = {}): Promise<string> =>
  (
    ok(await one.http('POST', CONVERSATIONS, { token: member.token, body })).body as {
      conversation: { public_id: string };
    }
  ).conversation.public_id;

const follow = async (node: TestNode, member: TestMember, run: string, headers = {}): Promise<SseReader> => {
  const reader = await SseReader.open(`${node.url}${RUNS}/${run}/events`, member.token, headers);
  opened.push(reader);
  return reader;
};

const prune = (run: string): Promise<unknown> =>
  one.db.pool.query(
    'update runs set details_pruned_at = now(), completed_at = now(), declaration_digest = null where id = $1',
    [run],
  );

describe('A run', () => {
  it('is shown whole', async () => {
    const id = await newRun(one, agent, runner);
    const row = { runner_executor_public_id: runner.id, display_name: expect.any(String), environment: {} };
    expect(await readRun(agent, id)).toEqual({
      public_id: id,
      conversation_public_id: null,
      parent_run_public_id: null,
      status: 'open',
      approval_mode: 'bypass',
      approval_rules: [],
      default_runner_executor_public_id: runner.id,
      tool_definitions: ['bash', 'read'].map((name) => ({
        type: 'function',
        function: { name, description: `The tool ${name}`, parameters: { type: 'object' } },
        route: { kind: 'runner', runner_executor_public_id: runner.id, tool_name: name },
      })),
      environment: {
        default_runner_executor_public_id: runner.id,
        executors: [row],
        runner_candidates: [row],
      },
      runner_effects: { status: 'untouched', runners: [] },
      created_at: expect.any(String),
      completed_at: null,
    });
  });

  it('is open without a task and while one is open, then completed when the last settled, and open again', async () => {
    const id = await newRun(one, agent, runner);
    expect(await readRun(agent, id)).toMatchObject({ status: 'open', completed_at: null });
    ok(await accept(one, agent, id, [callStep('read', { key: 'a' }), callStep('read', { key: 'b' })]));
    await settle(one, id, 'a');
    expect(await readRun(agent, id)).toMatchObject({ status: 'open', completed_at: null });
    await settle(one, id, 'b');
    const last = (await readOne(agent, id, 'b'))['settled_at'];
    expect(await readRun(agent, id)).toMatchObject({ status: 'completed', completed_at: last });
    ok(await accept(one, agent, id, [callStep('read', { key: 'c' })]));
    expect(await readRun(agent, id)).toMatchObject({ status: 'open', completed_at: null });
  });

  it('whose detail was pruned shows its frame, and refuses its tasks and every verb on them', async () => {
    const id = await newRun(one, agent, runner);
    ok(await accept(one, agent, id, [callStep('read', { key: 'a' })]));
    await settle(one, id, 'a');
    await prune(id);
    one.app.get(NodeEvents).publish('run', { id });
    const run = await readRun(agent, id);
    expect(run).toMatchObject({
      status: 'completed',
      details_pruned_at: expect.any(String),
      runner_effects: { status: 'unavailable', reason: 'execution_details_pruned' },
    });
    expect(run).not.toHaveProperty('tool_definitions');
    for (const answer of [
      await get(agent, `${RUNS}/${id}/tasks`),
      await get(agent, `${RUNS}/${id}/tasks/a`),
      await get(agent, `${RUNS}/${id}/events`),
      await accept(one, agent, id, [callStep('read')]),
      await stop(agent, id),
    ]) {
      expect(outcome(answer)).toBe('410 execution_details_pruned');
    }
  });

  it('refuses a step also where this node has not heard yet that it was pruned', async () => {
    const id = await newRun(one, agent, runner);
    ok(await accept(one, agent, id, [callStep('read')]));
    await prune(id);
    expect(outcome(await accept(one, agent, id, [callStep('read')]))).toBe('410 execution_details_pruned');
  });
});

describe('Who sees a run', () => {
  it('its principal, that agent’s steward and administrators; to everyone else it is not there', async () => {
    const id = await newRun(one, agent, runner);
    ok(await accept(one, agent, id, [callStep('read', { key: 'a' })]));
    const within = await conversation(agent);
    const stranger = await newHuman(one, account);
    const strange = await newAgent(one, account, { approval_floor: 'bypass' });
    const foreign = await withToken(one, other, other.adminId);
    const verbs: ((member: TestMember) => Promise<HttpAnswer>)[] = [
      (member) => get(member, `${RUNS}/${id}`),
      (member) => get(member, `${RUNS}/${id}/tasks`),
      (member) => get(member, `${RUNS}/${id}/tasks/a`),
      (member) => accept(one, member, id, [callStep('read')]),
      (member) => get(member, `${CONVERSATIONS}/${within}`),
      (member) =>
        one.http('PUT', `${CONVERSATIONS}/${within}/default_runner`, {
          token: member.token,
          body: { runner_executor_public_id: runner.id },
        }),
      (member) => stop(member, id),
    ];
    for (const verb of verbs) {
      for (const member of [stranger, strange, foreign])
        expect(outcome(await verb(member))).toBe('404 not_found');
    }
    expect(outcome(await get(stranger, `${RUNS}/${id}/events`))).toBe('404 not_found');
    expect(outcome(await get(foreign, `${CONVERSATIONS}/${within}/runner_effects?from_run=${id}`))).toBe(
      '404 not_found',
    );
    for (const verb of verbs.slice(0, -1)) {
      for (const member of [agent, steward, admin]) expect((await verb(member)).status).toBeLessThan(300);
    }
    for (const member of [steward, admin, agent]) expect(outcome(await verbs.at(-1)!(member))).toBe('200');
  });

  it.each(['nothing', '01990000', newId(), '%00', newId().toUpperCase()])(
    'nobody, under the id %s',
    async (id) => {
      for (const path of ['', '/tasks', '/tasks/a', '/events']) {
        expect(outcome(await get(agent, `${RUNS}/${id}${path}`))).toBe('404 not_found');
      }
      expect(outcome(await get(agent, `${CONVERSATIONS}/${id}`))).toBe('404 not_found');
    },
  );

  it('the platform plane of its account, and of no other', async () => {
    const id = await newRun(one, agent, runner);
    ok(await accept(one, agent, id, [callStep('read', { key: 'a' })]));
    const platform = { token: account.platformToken };
    const path = '/platform_api/v1/runs';
    expect(ok(await get(platform, `${path}/${id}`)).body).toEqual({ run: await readRun(agent, id) });
    expect(ok(await get(platform, `${path}/${id}/tasks`)).body).toMatchObject({ tasks: [{ task_key: 'a' }] });
    const listed = ok(await get(platform, path)).body as { runs: { public_id: string }[] };
    expect(listed.runs[0]?.public_id).toBe(id);
    const foreign = { token: other.platformToken };
    expect(ok(await get(foreign, path)).body).toEqual({ runs: [], pagination: { next_after: null } });
    for (const below of ['', '/tasks']) {
      expect(outcome(await get(foreign, `${path}/${id}${below}`))).toBe('404 not_found');
    }
    expect(outcome(await get(agent, path))).toBe('401 unauthorized');
    expect(outcome(await get(platform, `${RUNS}/${id}`))).toBe('401 unauthorized');
  });

  it('lists what its reader is shown one by one, newest first, page by page', async () => {
    const owner = await newHuman(one, account);
    const ward = await newAgent(one, account, { steward_public_id: owner.id, approval_floor: 'bypass' });
    const ids: string[] = [];
    for (const member of [ward, owner, ward, owner, ward]) ids.push(await newRun(one, member, null));
    const list = async (member: TestMember, limit: number): Promise<string[]> => {
      const found: string[] = [];
      for (let after = ''; ;) {
        const page = ok(await get(member, `${RUNS}?limit=${limit}&after=${after}`)).body as {
          runs: { public_id: string }[];
          pagination: { next_after: string | null };
        };
        found.push(...page.runs.map(({ public_id }) => public_id));
        if (page.pagination.next_after === null) return found;
        after = page.pagination.next_after;
      }
    };
    const newestFirst = [...ids].reverse();
    for (const limit of [1, 2, 5, 200]) expect(await list(owner, limit)).toEqual(newestFirst);
    expect(await list(ward, 2)).toEqual([ids[4], ids[2], ids[0]]);
    expect((await list(admin, 200)).filter((id) => ids.includes(id))).toEqual(newestFirst);
    expect(outcome(await get(owner, `${RUNS}?after=nonsense`))).toBe('400 parameter_invalid');
    expect(outcome(await get(owner, `${RUNS}?limit=0`))).toBe('400 parameter_invalid');
  });
});

describe('A conversation', () => {
  it('has a default runner that was eligible when it was set', async () => {
    const owner = await newHuman(one, account);
    const hidden = await newRunner(one, account, {
      manager_public_id: owner.id,
      assignment_scope: 'user_private',
    });
    const create = (body: object): Promise<HttpAnswer> =>
      one.http('POST', CONVERSATIONS, { token: agent.token, body });
    expect(ok(await create({})).body).toEqual({
      conversation: {
        public_id: expect.any(String),
        default_runner_executor_public_id: null,
        created_at: expect.any(String),
      },
    });
    const made = ok(await create({ default_runner_executor_public_id: runner.id })).body as {
      conversation: { public_id: string };
    };
    expect(made).toMatchObject({ conversation: { default_runner_executor_public_id: runner.id } });
    for (const id of [hidden.id, newId()]) {
      expect(outcome(await create({ default_runner_executor_public_id: id }))).toBe(
        '422 runner_not_eligible',
      );
    }
    expect(outcome(await create({ default_runner_executor_public_id: 'x' }))).toBe('422 validation_failed');
    const path = `${CONVERSATIONS}/${made.conversation.public_id}/default_runner`;
    const put = (body: object): Promise<HttpAnswer> => one.http('PUT', path, { token: agent.token, body });
    expect(outcome(await put({}))).toBe('400 parameter_missing');
    expect(outcome(await put({ runner_executor_public_id: hidden.id }))).toBe('422 runner_not_eligible');
    expect(ok(await put({ runner_executor_public_id: null })).body).toMatchObject({
      conversation: { default_runner_executor_public_id: null },
    });
  });

  it('gives its runs its default, unless the body says otherwise', async () => {
    const within = await conversation(agent, { default_runner_executor_public_id: runner.id });
    const make = async (body: object): Promise<unknown> =>
      (
        ok(
          await one.http('POST', RUNS, {
            token: agent.token,
            body: {
              conversation_public_id: within,
              configuration: { runner_executor_public_ids: [runner.id] },
              ...body,
            },
          }),
        ).body as { run: Record<string, unknown> }
      ).run['default_runner_executor_public_id'];
    expect(await make({})).toBe(runner.id);
    expect(await make({ default_runner_executor_public_id: null })).toBeNull();
  });

  it('holds runs of its principal only', async () => {
    const within = await conversation(agent);
    for (const member of [steward, admin]) {
      const body = { conversation_public_id: within };
      expect(outcome(await one.http('POST', RUNS, { token: member.token, body }))).toBe('404 not_found');
    }
  });
});

describe('The tasks of a run', () => {
  it('are listed in order of acceptance, page by page, and cut at 4 MiB', async () => {
    const id = await newRun(one, agent, runner);
    const big = { input: { a: 'x'.repeat(250 * 1024) } };
    for (let index = 0; index < 20; index += 1) {
      ok(await accept(one, agent, id, [callStep('read', { key: `k${index}`, ...big })]));
    }
    const keys: string[] = [];
    const sizes: number[] = [];
    for (let after = ''; ;) {
      const answer = ok(await get(agent, `${RUNS}/${id}/tasks?limit=200&after=${after}`));
      const page = answer.body as { tasks: TaskBody[]; pagination: { next_after: string | null } };
      keys.push(...page.tasks.map(({ task_key }) => task_key));
      sizes.push(page.tasks.length);
      if (page.pagination.next_after === null) break;
      after = page.pagination.next_after;
    }
    expect(keys).toEqual(Array.from({ length: 20 }, (_, index) => `k${index}`));
    expect(sizes).toEqual([16, 4]);
    const small = ok(await get(agent, `${RUNS}/${id}/tasks?limit=3`)).body as { tasks: TaskBody[] };
    expect(small.tasks.map(({ task_key }) => task_key)).toEqual(['k0', 'k1', 'k2']);
    expect(outcome(await get(agent, `${RUNS}/${id}/tasks?after=x`))).toBe('400 parameter_invalid');
  });

  it('tell a committed null from what has no value yet', async () => {
    const id = await newRun(one, agent, runner);
    ok(await accept(one, agent, id, [callStep('read', { key: 'a' })]));
    expect(await readOne(agent, id, 'a')).not.toHaveProperty('structured_content');
    await one.db.pool.query(`update tasks set structured_content = 'null' where run_id = $1`, [id]);
    expect(await readOne(agent, id, 'a')).toHaveProperty('structured_content', null);
  });
});

describe('A long poll', () => {
  it('is answered when another node settles the task', async () => {
    const id = await newRun(one, agent, runner);
    ok(await accept(one, agent, id, [callStep('read', { key: 'a' })]));
    const started = performance.now();
    const polls = [readOne(agent, id, 'a', 20_000, one), readOne(steward, id, 'a', 20_000, two)];
    ok(await get(agent, `${RUNS}/${id}/tasks/a`, two));
    await settle(two, id, 'a');
    for (const task of await Promise.all(polls))
      expect(task).toMatchObject({ status: 'completed', content: 'done' });
    expect(performance.now() - started).toBeLessThan(2_000);
  });

  it('ends with the task as it is', async () => {
    const id = await newRun(one, agent, runner);
    ok(await accept(one, agent, id, [callStep('read', { key: 'a' })]));
    const started = performance.now();
    expect((await readOne(agent, id, 'a', 300)).status).toBe('dispatched');
    expect(performance.now() - started).toBeGreaterThanOrEqual(299);
  });

  it.each(['-1', '60001', 'x', '1.5', '1e3'])('refuses wait_ms=%s', async (wait) => {
    const id = await newRun(one, agent, runner);
    expect(outcome(await get(agent, `${RUNS}/${id}/tasks/a?wait_ms=${wait}`))).toBe('400 parameter_invalid');
  });

  it('finds nothing under a key that is not there', async () => {
    const id = await newRun(one, agent, runner);
    for (const key of ['a', 'not a key', '-']) {
      expect(outcome(await get(agent, `${RUNS}/${id}/tasks/${encodeURIComponent(key)}?wait_ms=1000`))).toBe(
        '404 not_found',
      );
    }
  });

  it('is let go by a node that shuts down', async () => {
    const third = await TestNode.start({}, one);
    const id = await newRun(one, agent, runner);
    ok(await accept(one, agent, id, [callStep('read', { key: 'a' })]));
    const poll = fetch(`${third.url}${RUNS}/${id}/tasks/a?wait_ms=60000`, {
      headers: { authorization: `Bearer ${agent.token}` },
    });
    const waits = third.app.get(TaskWaits);
    while (waits.count === 0) await nextTurn();
    const [answer] = await Promise.all([poll, third.close()]);
    expect(answer.status).toBe(200);
    expect(((await answer.json()) as { task: TaskBody }).task.status).toBe('dispatched');
  });
});

describe('Following a run', () => {
  it('sends every task as it is, then each change, whichever node made it', async () => {
    const id = await newRun(one, agent, runner);
    ok(await accept(one, agent, id, [callStep('read', { key: 'a' })]));
    await settle(one, id, 'a');
    ok(await accept(one, agent, id, [callStep('read', { key: 'b' })]));
    const reader = await follow(one, agent, id);
    expect(reader.response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    const is = (key: string, status: string) => (event: { data: { task?: TaskBody } }) =>
      event.data.task?.task_key === key && event.data.task.status === status;
    await reader.until(is('b', 'dispatched'));
    expect(
      reader.events.map(({ event, data }) => [event, (data as { task: TaskBody }).task.task_key]),
    ).toEqual([
      ['task', 'a'],
      ['task', 'b'],
    ]);
    ok(await accept(two, agent, id, [callStep('read', { key: 'c' })]));
    await reader.until(is('c', 'dispatched'));
    await settle(two, id, 'c');
    const settled = await reader.until(is('c', 'completed'));
    expect((settled.data as { task: TaskBody }).task).toEqual(await readOne(agent, id, 'c'));
    expect(settled.id).toMatch(/^c\.1\.completed\./);
    // an event that says nothing new is not sent
    const before = reader.events.length;
    one.app.get(NodeEvents).publish('task', { run: id, key: 'c' });
    await settle(one, id, 'b');
    await reader.until(is('b', 'completed'));
    expect(reader.events).toHaveLength(before + 1);
  });

  it('makes up for what was missed, whatever Last-Event-ID says', async () => {
    const id = await newRun(one, agent, runner);
    ok(await accept(one, agent, id, [callStep('read', { key: 'a' })]));
    const first = await follow(one, agent, id);
    const seen = await first.until(() => true);
    first.close();
    await settle(one, id, 'a');
    const again = await follow(two, agent, id, { 'last-event-id': seen.id ?? '' });
    expect((await again.until(() => true)).data).toMatchObject({
      task: { task_key: 'a', status: 'completed' },
    });
  });

  it('carries progress frames, without the claim token', async () => {
    const id = await newRun(one, agent, runner);
    ok(await accept(one, agent, id, [callStep('read', { key: 'a' })]));
    const reader = await follow(one, agent, id);
    await reader.until(() => true);
    const frame = { text_tail: 'half way', structured: { percent: 50 }, claim_token: 'secret-of-the-claim' };
    two.app.get(NodeEvents).publish('progress', { run: newId(), key: 'a', frame });
    two.app.get(NodeEvents).publish('progress', { run: id, key: 'a', frame });
    const shown = await reader.until(({ event }) => event === 'progress');
    expect(shown.data).toEqual({
      frame: { run_public_id: id, task_key: 'a', text_tail: 'half way', structured: { percent: 50 } },
    });
    expect(reader.events.filter(({ event }) => event === 'progress')).toHaveLength(1);
  });

  it('a long poll of a credential that was deleted meanwhile is 401, and its connection to the bus is cut', async () => {
    const run = await newRun(one, agent, runner);
    const fleeting = await withToken(one, account, agent.id);
    const [polled, called] = ['polled', 'called'];
    ok(await accept(one, agent, run, [callStep('read', { key: polled })]));
    const polling = get(fleeting, `${RUNS}/${run}/tasks/${polled}?wait_ms=10000`, two);
    const bus = await onBus(fleeting);
    clients.push(bus);
    const step = callStep('read', { key: called });
    const calling = bus.ask('call', { run_public_id: run, step, wait_ms: 10_000 }).then(
      () => 'answered',
      () => 'cut',
    );
    const waits = [one, two].map((node) => node.app.get(TaskWaits));
    while (waits.reduce((sum, { count }) => sum + count, 0) < 2) await nextTurn();
    const path = `/platform_api/v1/credentials/${fleeting.credentialId}`;
    await one.http('DELETE', path, { token: account.platformToken });
    await settle(one, run, polled);
    await settle(one, run, called);
    expect(outcome(await polling)).toBe('401 unauthorized');
    expect(await calling).toBe('cut');
  });

  it('ends when the credential is revoked on another node, and for nobody else', async () => {
    const fleeting = await withToken(one, account, agent.id);
    const id = await newRun(one, agent, runner);
    ok(await accept(one, agent, id, [callStep('read', { key: 'a' })]));
    const [ending, staying] = [await follow(one, fleeting, id), await follow(one, agent, id)];
    await Promise.all([ending.until(() => true), staying.until(() => true)]);
    const path = `/platform_api/v1/credentials/${fleeting.credentialId}`;
    const started = performance.now();
    ok(await two.http('DELETE', path, { token: account.platformToken }));
    await ending.end();
    // by the event, before the beat that would notice too
    expect(performance.now() - started).toBeLessThan(5_000);
    await settle(one, id, 'a');
    await staying.until(({ data }) => (data as { task: TaskBody }).task.status === 'completed');
  });

  it('ends when the node shuts down', async () => {
    const third = await TestNode.start({}, one);
    const id = await newRun(one, agent, runner);
    ok(await accept(one, agent, id, [callStep('read', { key: 'a' })]));
    const reader = await follow(third, agent, id);
    await reader.until(() => true);
    await Promise.all([reader.end(), third.close()]);
  });
});

describe('Stopping a run', () => {
  it('cancels every open task, tells the claimant, and refuses later steps', async () => {
    const client = await onBus(runner);
    clients.push(client);
    const pushed: unknown[] = [];
    const heard = (async () => {
      for await (const message of client.connection.subscribe(runner.subjects.work)) {
        const push = message.json<{ event: string }>();
        if (push.event === 'work_canceled') pushed.push(push);
        if (pushed.length === 1) return;
      }
    })();
    await client.connection.flush();
    const id = await newRun(one, agent, runner, { approval_mode: 'ask' });
    const keys = ['settled', 'claimed', 'waiting'].map((key) => callStep('read', { key }));
    ok(await accept(one, agent, id, [...keys, callStep('bash', { key: 'held' })]));
    await settle(one, id, 'settled');
    await claim(one, runner, id, 'claimed');
    const poll = readOne(agent, id, 'waiting', 20_000, two);
    const { run } = ok(await stop(agent, id)).body as { run: Record<string, unknown> };
    expect(run).toMatchObject({ status: 'stopped', completed_at: expect.any(String) });
    expect((await poll).status).toBe('canceled');
    const { tasks } = ok(await get(agent, `${RUNS}/${id}/tasks`)).body as { tasks: TaskBody[] };
    expect(tasks.map(({ task_key, status }) => [task_key, status])).toEqual([
      ['settled', 'completed'],
      ['claimed', 'canceled'],
      ['waiting', 'canceled'],
      ['held', 'canceled'],
    ]);
    for (const node of [one, two]) {
      expect(outcome(await accept(node, agent, id, [callStep('read')]))).toBe('409 run_stopped');
    }
    await heard;
    expect(pushed).toEqual([{ event: 'work_canceled', run_public_id: id, task_key: 'claimed' }]);
    expect(ok(await stop(agent, id, two)).body).toEqual({ run });
  });

  it('leaves no open task behind that was accepted at the same moment', async () => {
    for (let round = 0; round < 10; round += 1) {
      const id = await newRun(one, agent, runner);
      const steps = Array.from({ length: 8 }, (_, index) =>
        accept(index % 2 === 0 ? one : two, agent, id, [callStep('read')]),
      );
      const [stopped, ...accepted] = await Promise.all([stop(agent, id), ...steps]);
      expect(stopped?.status).toBe(200);
      for (const answer of accepted) expect(['201', '409 run_stopped']).toContain(outcome(answer));
      const { tasks } = ok(await get(agent, `${RUNS}/${id}/tasks`)).body as { tasks: TaskBody[] };
      expect(tasks).toHaveLength(accepted.filter(({ status }) => status === 201).length);
      expect(tasks.filter(({ status }) => status !== 'canceled')).toEqual([]);
    }
  });
});

describe('What executors are told', () => {
  it('is work_available, for a call that waits and for no other', async () => {
    const box = await newRunner(one, account);
    await announce(one, box, [tool('read'), tool('bash', { effect_profile: WRITE })]);
    const client = await onBus(box);
    clients.push(client);
    const messages = client.connection.subscribe(box.subjects.work, { max: 1 });
    await client.connection.flush();
    const id = await newRun(one, agent, box, { approval_mode: 'ask' });
    ok(await accept(one, agent, id, [callStep('bash', { key: 'held' })]));
    ok(await accept(one, agent, id, [callStep('read', { key: 'open' })]));
    for await (const message of messages) {
      expect(message.json()).toEqual({
        event: 'work_available',
        run_public_id: id,
        task_key: 'open',
        kind: 'tool_call',
        tool_name: 'read',
      });
    }
  });
});

describe('call on the bus', () => {
  const onMemberBus = async (member: TestMember): Promise<BusClient> => {
    const client = await onBus(member);
    clients.push(client);
    return client;
  };

  it('accepts a step on a run and answers its task when it settles', async () => {
    const client = await onMemberBus(agent);
    const id = await newRun(one, agent, runner);
    const asked = client.ask('call', {
      run_public_id: id,
      step: callStep('read', { key: 'a' }),
      wait_ms: 20_000,
    });
    const reader = await follow(one, agent, id);
    await reader.until(() => true);
    await settle(two, id, 'a', 'from the runner');
    const { status, body } = await asked;
    expect(status).toBe(200);
    expect(body).toEqual({ task: await readOne(agent, id, 'a') });
    expect(body).toMatchObject({ task: { status: 'completed', content: 'from the runner' } });
  });

  it('makes a run where none is named, and ends with the wait', async () => {
    const client = await onMemberBus(agent);
    const { body } = await client.ask('call', { step: toolStep('read', runner), wait_ms: 0 });
    const { task } = body as { task: TaskBody };
    expect(task).toMatchObject({ status: 'dispatched', addressed_to: { executor_public_id: runner.id } });
    expect(await readRun(agent, task.run_public_id)).toMatchObject({ status: 'open' });
  });

  it('waits for the same task again under one idempotency_key', async () => {
    const caller = await newAgent(one, account, { approval_floor: 'bypass' });
    const clients = await Promise.all([onMemberBus(caller), onMemberBus(caller)]);
    const body = { step: toolStep('read', runner), wait_ms: 20_000, idempotency_key: newId() };
    const accepted = new Promise<{ run: string; key: string }>((resolve) => {
      const off = one.app.get(NodeEvents).on('task', (task) => resolve((off(), task)));
    });
    const asked = clients.map((client) => client.ask('call', body, { timeout: 20_000 }));
    const { run, key } = await accepted;
    await settle(one, run, key);
    const [first, second] = await Promise.all(asked);
    expect(first?.body).toMatchObject({ task: { run_public_id: run, task_key: key, status: 'completed' } });
    expect(second?.body).toEqual(first?.body);
    expect(ok(await get(caller, RUNS)).body).toMatchObject({ runs: [{ public_id: run }] });
    const conflict = await clients[0]?.ask('call', { ...body, step: toolStep('bash', runner) });
    expect(conflict).toMatchObject({ status: 409, code: 'idempotency_conflict' });
  });

  it('refuses with the codes of acceptance', async () => {
    const client = await onMemberBus(agent);
    const id = await newRun(one, agent, runner);
    const cases: [string, object][] = [
      ['parameter_missing', {}],
      ['validation_failed', { step: 7 }],
      ['validation_failed', { step: toolStep('read', runner), wait_ms: 60_001 }],
      ['not_found', { run_public_id: newId(), step: callStep('read') }],
      ['not_found', { run_public_id: 'x', step: callStep('read') }],
      ['tool_not_declared', { run_public_id: id, step: callStep('nothing') }],
      ['runner_not_eligible', { step: toolStep('read', newId()) }],
      ['tool_not_declared', { step: callStep('read') }],
    ];
    for (const [code, body] of cases) {
      expect(await client.ask('call', body)).toMatchObject({ code });
    }
  });
});

describe('runner_effects', () => {
  const effectsFrom = async (within: string, from: string): Promise<Record<string, unknown>> =>
    (
      ok(await get(agent, `${CONVERSATIONS}/${within}/runner_effects?from_run=${from}`)).body as {
        runner_effects: Record<string, unknown>;
      }
    ).runner_effects;

  it('are the first claimed write for each runner, by claim time', async () => {
    const box = await newRunner(one, account);
    await announce(one, box, [tool('bash', { effect_profile: WRITE })]);
    const id = await newRun(one, agent, runner);
    const steps = [
      callStep('bash', { key: 'unclaimed' }),
      toolStep('bash', box, { key: 'elsewhere' }),
      callStep('bash', { key: 'first' }),
      callStep('bash', { key: 'second' }),
    ];
    ok(await accept(one, agent, id, steps));
    expect(await readRun(agent, id)).toMatchObject({ runner_effects: { status: 'untouched', runners: [] } });
    await claim(one, runner, id, 'first', { captures: true, checkpoint: { tree: 1 } });
    await claim(one, runner, id, 'second', { captures: true });
    await claim(one, box, id, 'elsewhere', { captures: true, checkpoint: null });
    const fact = (executor: TestExecutor, key: string): object => ({
      runner_executor_public_id: executor.id,
      run_public_id: id,
      task_key: key,
      claimed_at: expect.any(String),
    });
    expect((await readRun(agent, id))['runner_effects']).toEqual({
      status: 'touched',
      runners: [
        { ...fact(runner, 'first'), checkpoint: { tree: 1 } },
        { ...fact(box, 'elsewhere'), checkpoint: null },
      ],
    });
  });

  it('of a conversation cover a run and all later ones, and are unavailable once one of them is pruned', async () => {
    const within = await conversation(agent);
    const runs: string[] = [];
    for (let index = 0; index < 3; index += 1) {
      const id = await newRun(one, agent, runner, { conversation_public_id: within });
      ok(await accept(one, agent, id, [callStep('bash', { key: 'a' })]));
      runs.push(id);
    }
    const [first, second, third] = runs as [string, string, string];
    await claim(one, runner, first, 'a', { captures: true });
    expect(await effectsFrom(within, first)).toMatchObject({
      status: 'touched',
      runners: [{ run_public_id: first }],
    });
    expect(await effectsFrom(within, second)).toEqual({ status: 'untouched', runners: [] });
    await claim(one, runner, third, 'a', { captures: true });
    expect(await effectsFrom(within, first)).toMatchObject({ runners: [{ run_public_id: first }] });
    expect(await effectsFrom(within, second)).toMatchObject({ runners: [{ run_public_id: third }] });
    await prune(second);
    expect(await effectsFrom(within, first)).toMatchObject({
      status: 'unavailable',
      reason: 'execution_details_pruned',
    });
    expect(await effectsFrom(within, third)).toMatchObject({ status: 'touched' });
  });

  it('of a conversation begin with a run of it', async () => {
    const within = await conversation(agent);
    const elsewhere = await newRun(one, agent, null);
    const path = `${CONVERSATIONS}/${within}/runner_effects`;
    expect(outcome(await get(agent, path))).toBe('400 parameter_missing');
    for (const from of ['x', newId(), elsewhere]) {
      expect(outcome(await get(agent, `${path}?from_run=${from}`))).toBe('404 not_found');
    }
  });
});

describe('The statements of the hot path', () => {
  it('reach their rows by key, also on tables without statistics', async () => {
    // a database of its own: nothing has analysed it yet
    const fresh = await TestNode.start();
    const client = await fresh.db.pool.connect();
    try {
      const [account_, run] = [newId(), newId()];
      const plans: [string, string, string[]][] = [
        ['accept', acceptTasks.text, ['[]']],
        ['read', readTasks.text, ['[]']],
        ['cancel', cancelOpenTasks.text, [account_, run]],
      ];
      await client.query('set plan_cache_mode = force_generic_plan');
      for (const [name, text, values] of plans) {
        await client.query(`prepare plan_of_${name} as ${text}`);
        const { rows } = await client.query<{ 'QUERY PLAN': string }>(
          `explain execute plan_of_${name}(${values.map((value) => `'${value}'`).join(', ')})`,
        );
        const plan = rows.map((row) => row['QUERY PLAN']);
        const scans = plan.filter((line) =>
          /Seq Scan on (tasks|runs|executors|announcements|members)|hashed SubPlan/.test(line),
        );
        expect({ name, scans }).toEqual({ name, scans: [] });
        const indexes = plan.flatMap((line) => /using (tasks_\w+)/.exec(line)?.[1] ?? []);
        expect({ name, indexes: [...new Set(indexes)] }).toEqual({
          name,
          indexes: name === 'accept' ? [] : ['tasks_pkey'],
        });
      }
    } finally {
      client.release(true);
      await fresh.close();
    }
  });
});
