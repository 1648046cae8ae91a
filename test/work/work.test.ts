import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { NodeEvents } from '../../src/bus/node-events.js';
import { newId } from '../../src/db/ids.js';
import { secondAccount } from '../discovery/second-account.js';
import { accept, callStep, taskOf, toolStep } from '../routing/stage.js';
import {
  announce,
  executorOf,
  firstAccount,
  newAgent,
  newExecutor,
  newRun,
  newRunner,
  ok,
  type TestAccount,
  type TestExecutor,
  type TestMember,
  tool,
  WRITE,
} from '../support/factories.js';
import { TestNode } from '../support/node.js';
import {
  busDoor,
  claimed,
  codeOf,
  type Door,
  newToken,
  parked,
  pastDeadline,
  restDoor,
  type TaskName,
  taskNow,
} from './stage.js';

let one: TestNode;
let two: TestNode;
let account: TestAccount;
let agent: TestMember;
let runner: TestExecutor;
let run: string;

const TOOLS = [
  tool('read', { timeout_ms: 60_000 }),
  tool('bash', { effect_profile: WRITE, timeout_ms: 60_000 }),
  tool('keyed', { effect_profile: { ...WRITE, idempotency: 'keyed' } }),
  tool('lookup', { effect_profile: { ...WRITE, reconciliation: 'lookup' } }),
];

beforeAll(async () => {
  one = await TestNode.start();
  two = await TestNode.start({}, one);
  account = await firstAccount(one);
  agent = await newAgent(one, account, { approval_floor: 'bypass' });
  runner = await newRunner(one, account);
  await announce(one, runner, TOOLS);
  run = await newRun(one, agent, runner);
});

afterAll(async () => {
  await two?.close();
  await one?.close();
});

/** An administrator's verb on an executor. */
const administer = (verb: string, executor: TestExecutor): Promise<unknown> =>
  one
    .http('POST', `/platform_api/v1/executors/${executor.id}/${verb}`, { token: account.platformToken })
    .then(ok);

const call = (name: string, fields: object = {}): Promise<TaskName> =>
  parked(one, agent, run, callStep(name, fields));

/** A runner of its own, with a run that has it as default. */
async function ownRunner(fields: object = {}): Promise<{ executor: TestExecutor; run: string }> {
  const executor = await newRunner(one, account, fields);
  await announce(one, executor, TOOLS);
  return { executor, run: await newRun(one, agent, executor) };
}

/** Registers the executor's key again. */
async function repaired(fields: object): Promise<TestExecutor> {
  const answer = await one.http('POST', '/platform_api/v1/executors', {
    token: account.platformToken,
    body: fields,
  });
  return executorOf(ok(answer));
}

async function capture(task: TaskName): Promise<Record<string, unknown>> {
  const { rows } = await one.db.pool.query<Record<string, unknown>>(
    `select capture_generation as generation, capture_runner_id as runner, capture_claimed_at = claimed_at as at_claim,
       capture_checkpoint::text as checkpoint
     from tasks where run_id = $1 and task_key = $2`,
    [task.run_public_id, task.task_key],
  );
  return rows[0] ?? {};
}

/** Begins a new generation, as a retry will: the claim is forgotten, the capture stays. */
async function nextGeneration({ run_public_id, task_key }: TaskName): Promise<void> {
  await one.db.pool.query(
    `update tasks set status = 'dispatched', generation = generation + 1, settled_at = null, error_key = null,
       error_detail = null, content = null, is_error = null, metadata = null, claimed_by = null, claim_epoch = null,
       claim_token_sha256 = null, claimed_at = null, deadline_at = clock_timestamp() + interval '1 minute'
     where run_id = $1 and task_key = $2`,
    [run_public_id, task_key],
  );
}

const doors = (executor: TestExecutor) => ({
  REST: () => Promise.resolve(restDoor(one, executor)),
  bus: () => busDoor(executor),
});

describe.each(['REST', 'bus'] as const)('on %s', (name) => {
  let door: Door;

  /** Another executor at this door; closed with the test that asked. */
  const opened: Door[] = [];
  async function at(executor: TestExecutor): Promise<Door> {
    const other = await doors(executor)[name]();
    opened.push(other);
    return other;
  }

  beforeAll(async () => {
    door = await doors(runner)[name]();
  });
  afterAll(async () => {
    await Promise.all([door, ...opened].map((each) => each.close()));
  });

  describe('claim', () => {
    it('is the fetch: the task with its input, and the clock restarted at timeout_ms', async () => {
      const task = await call('read', { input: { path: 'a' }, timeout_ms: 5_000 });
      const claim_token = newToken();
      const { status, body } = await door.ask('claim', { ...task, claim_token });
      expect(status).toBe(200);
      expect(body.task).toMatchObject({
        ...task,
        status: 'dispatched',
        tool_name: 'read',
        tool_input: { path: 'a' },
        claimed_by: { executor_public_id: runner.id },
      });
      expect(body.claim).toEqual({ claim_token, deadline_at: body.task.deadline_at });
      expect(Date.parse(body.task.deadline_at) - Date.parse(body.task.claimed_at)).toBe(5_000);
    });

    it('passes the input on byte for byte', async () => {
      const input = '{"z":1.0,  "a":[1E+2,-0, 12345678901234567890],"é":"\\u00e9 \\/ 😀 \\ud83d\\ude00"}';
      const step = `{"steps":[{"call":{"name":"read","input":${input}}}]}`;
      const path = `/agent_api/v1/runs/${run}/tasks`;
      const { run_public_id, task_key } = taskOf(
        await one.http('POST', path, { token: agent.token, body: step }),
      );
      const { text } = await door.ask('claim', { run_public_id, task_key });
      expect(text).toContain(`"tool_input":${input}`);
    });

    it('mints a token where none is brought, and stores no token', async () => {
      const task = await call('read');
      const { body } = await door.ask('claim', task);
      expect(body.claim.claim_token).toMatch(/^[A-Za-z0-9_-]{43}$/);
      const { rows } = await one.db.pool.query<{ text: string }>(
        `select to_json(t)::text as text from tasks t where task_key = $1`,
        [task.task_key],
      );
      expect(rows[0]?.text).not.toContain(body.claim.claim_token);
    });

    it('again with the same token answers the same claim', async () => {
      const task = await call('bash');
      const claim_token = newToken();
      const first = await door.ask('claim', { ...task, claim_token });
      const second = await door.ask('claim', { ...task, claim_token });
      expect(second.status).toBe(200);
      expect(second.text).toBe(first.text);
    });

    it.each(['short', 'x'.repeat(129), 'with blank in the middle of it', 7, null])(
      'refuses the token %p by its grammar',
      async (claim_token) => {
        const answer = await door.ask('claim', { ...(await call('read')), claim_token });
        expect(codeOf(answer)).toBe('422 validation_failed');
        expect(answer.body.error.message).toMatch(/^claim_token /);
      },
    );

    it('of what is not there is not_found: an unknown run, key, another account, no name at all', async () => {
      const task = await call('read');
      const { node: other, runner: foreign } = await foreigner();
      const strange = await (name === 'REST' ? Promise.resolve(restDoor(other, foreign)) : at(foreign));
      expect(codeOf(await strange.ask('claim', task))).toBe('404 not_found');
      for (const wrong of [
        { ...task, run_public_id: newId() },
        { ...task, task_key: 'unknown' },
        { ...task, run_public_id: 'run' },
        { ...task, task_key: 'a b' },
      ]) {
        for (const verb of ['claim', 'extend', 'commit'] as const) {
          const answer = await door.ask(verb, { ...wrong, claim_token: newToken(), timeout_ms: 1_000 });
          expect(codeOf(answer)).toBe('404 not_found');
        }
      }
    });

    it('by another executor is not_addressed_here, whatever the state', async () => {
      const task = await call('read');
      const other = await at((await ownRunner()).executor);
      expect(codeOf(await other.ask('claim', task))).toBe('409 not_addressed_here');
      await claimed(door, task);
      expect(codeOf(await other.ask('claim', task))).toBe('409 not_addressed_here');
    });

    it('of an approval is not_claimable_kind; of the held call itself task_not_claimable', async () => {
      const asking = await newAgent(one, account);
      const application = await newExecutor(one, account, {
        kind: 'agent_application',
        display_name: 'Application',
        agent_public_id: asking.id,
        assignment_scope: 'user_private',
      });
      const held = await parked(one, asking, await newRun(one, asking, runner), callStep('bash'));
      const app = await at(application);
      expect(codeOf(await app.ask('claim', held))).toBe('409 not_claimable_kind');
      expect(codeOf(await door.ask('claim', held))).toBe('409 task_not_claimable');
      expect(codeOf(await door.ask('commit', { ...held, claim_token: newToken() }))).toBe(
        '409 task_not_running',
      );
      const { body } = await app.ask('inbox');
      expect(body.tasks).toEqual([
        expect.objectContaining({ ...held, kind: 'approval', effect_profile: WRITE, claimed: false }),
      ]);
      expect((await door.ask('inbox')).text).not.toContain(held.task_key);
    });

    it('of a settled task, one past its deadline and one of a stopped run is task_not_claimable', async () => {
      const settled = await call('read');
      const claim_token = await claimed(door, settled);
      await door.ask('commit', { ...settled, claim_token, content: 'done' });
      expect(codeOf(await door.ask('claim', { ...settled, claim_token }))).toBe('409 task_not_claimable');
      const due = await call('read');
      await pastDeadline(one, due);
      expect(codeOf(await door.ask('claim', due))).toBe('409 task_not_claimable');
      const stopped = await newRun(one, agent, runner);
      const canceled = await parked(one, agent, stopped, callStep('read'));
      ok(await one.http('POST', `/agent_api/v1/runs/${stopped}/stop`, { token: agent.token }));
      expect(codeOf(await door.ask('claim', canceled))).toBe('409 task_not_claimable');
    });

    it('with another token is already_claimed', async () => {
      const task = await call('read');
      await claimed(door, task);
      expect(codeOf(await door.ask('claim', { ...task, claim_token: newToken() }))).toBe(
        '409 already_claimed',
      );
      expect(codeOf(await door.ask('claim', task))).toBe('409 already_claimed');
    });

    it('while it is shut down is not_eligible and leaves the park; what it had claimed goes on', async () => {
      const own = await ownRunner();
      const mine = await at(own.executor);
      const [waiting, running] = [
        await parked(one, agent, own.run, callStep('read')),
        await parked(one, agent, own.run, callStep('read')),
      ];
      const claim_token = await claimed(mine, running);
      await administer('shutdown', own.executor);
      expect(codeOf(await mine.ask('claim', waiting))).toBe('409 not_eligible');
      expect(codeOf(await mine.ask('claim', { ...running, claim_token: newToken() }))).toBe(
        '409 already_claimed',
      );
      expect((await mine.ask('claim', { ...running, claim_token })).status).toBe(200);
      expect((await mine.ask('commit', { ...running, claim_token, content: 'x' })).body.task.status).toBe(
        'completed',
      );
      expect((await taskNow(one, agent, waiting)).status).toBe('dispatched');
      await administer('resume', own.executor);
      expect((await mine.ask('claim', waiting)).status).toBe(200);
    });

    it('of a tool that is gone is tool_not_served, and the task settles so', async () => {
      const own = await ownRunner();
      const mine = await at(own.executor);
      const task = await parked(one, agent, own.run, callStep('read'));
      await announce(one, own.executor, [tool('bash')]);
      expect(codeOf(await mine.ask('claim', task))).toBe('409 tool_not_served');
      expect(await taskNow(two, agent, task)).toMatchObject({
        status: 'failed',
        error: { key: 'tool_not_served' },
      });
      expect(codeOf(await mine.ask('claim', task))).toBe('409 tool_not_served');
    });

    it('of the first write on a runner writes the capture, once, and of anything else none', async () => {
      const [write, read] = [await call('bash'), await call('read')];
      await claimed(door, read);
      expect(await capture(read)).toMatchObject({ generation: null, runner: null });
      expect(await capture(write)).toMatchObject({ generation: null, runner: null });
      await claimed(door, write);
      expect(await capture(write)).toEqual({
        generation: 1,
        runner: runner.id,
        at_claim: true,
        checkpoint: null,
      });
      await nextGeneration(write);
      const claim_token = await claimed(door, write);
      await door.ask('commit', { ...write, claim_token, metadata: { checkpoint: 1 } });
      expect(await capture(write)).toEqual({
        generation: 1,
        runner: runner.id,
        at_claim: false,
        checkpoint: null,
      });
    });
  });

  describe('claim status', () => {
    it('says whether the claim is active, and is kept by no cache', async () => {
      const task = await call('read');
      const claim_token = await claimed(door, task);
      const answer = await door.ask('claim_status', { ...task, claim_token });
      expect(answer).toMatchObject({ status: 200, body: { claim: { active: true } } });
      if ('headers' in answer) expect(answer.headers).toMatchObject({ 'cache-control': 'no-store' });
      await pastDeadline(one, task);
      expect((await door.ask('claim_status', { ...task, claim_token })).body).toEqual({
        claim: { active: false },
      });
    });

    it('is not_claimant for a wrong or old token, another executor and an unclaimed task', async () => {
      const task = await call('read');
      const ask = async (claim_token: string, at = door): Promise<string> =>
        codeOf(await at.ask('claim_status', { ...task, claim_token }));
      expect(await ask(newToken())).toBe('409 not_claimant');
      const old = await claimed(door, task);
      expect(await ask(newToken())).toBe('409 not_claimant');
      expect(await ask(old, await at((await ownRunner()).executor))).toBe('409 not_claimant');
      await nextGeneration(task);
      expect(await ask(old)).toBe('409 not_claimant');
    });

    it('without a token is parameter_missing, of an unknown task not_found', async () => {
      const task = await call('read');
      expect(codeOf(await door.ask('claim_status', task))).toBe('400 parameter_missing');
      const unknown = { ...task, task_key: 'unknown', claim_token: newToken() };
      expect(codeOf(await door.ask('claim_status', unknown))).toBe('404 not_found');
    });
  });

  describe('extend', () => {
    it('moves the deadline, and neither the token nor the timeout of the task', async () => {
      const task = await call('read');
      const claim_token = await claimed(door, task);
      const before = Date.now();
      const { body } = await door.ask('extend', { ...task, claim_token, timeout_ms: 30_000 });
      expect(body).toMatchObject({ task: { ...task, timeout_ms: 60_000 }, claim: { claim_token } });
      const deadline = Date.parse(body.claim.deadline_at);
      expect(deadline).toBeGreaterThanOrEqual(before + 29_900);
      expect(deadline).toBeLessThanOrEqual(Date.now() + 30_100);
      expect((await door.ask('claim_status', { ...task, claim_token })).body.claim.active).toBe(true);
    });

    it('is bounded by the larger of the frozen and the announced timeout', async () => {
      const [short, long] = [
        await call('read', { timeout_ms: 1_000 }),
        await call('read', { timeout_ms: 90_000 }),
      ];
      for (const [task, bound] of [
        [short, 60_000],
        [long, 90_000],
      ] as const) {
        const claim_token = await claimed(door, task);
        const extend = async (timeout_ms: number): Promise<string> =>
          codeOf(await door.ask('extend', { ...task, claim_token, timeout_ms }));
        expect(await extend(bound)).toBe('200');
        expect(await extend(bound + 1)).toBe('409 extension_too_long');
        expect(await extend(1e15)).toBe('409 extension_too_long');
      }
    });

    it.each([0, -1, 1.5, '5', null])('by %p is invalid_timeout_ms', async (timeout_ms) => {
      const task = await call('read');
      const claim_token = await claimed(door, task);
      expect(codeOf(await door.ask('extend', { ...task, claim_token, timeout_ms }))).toBe(
        '422 invalid_timeout_ms',
      );
    });

    it('of what is unclaimed, settled or due is not_extendable, before the token is looked at', async () => {
      const extend = async (task: TaskName, claim_token = newToken()): Promise<string> =>
        codeOf(await door.ask('extend', { ...task, claim_token, timeout_ms: 1_000 }));
      const task = await call('read');
      expect(await extend(task)).toBe('409 not_extendable');
      const claim_token = await claimed(door, task);
      expect(await extend(task)).toBe('409 not_claimant');
      await door.ask('commit', { ...task, claim_token });
      expect(await extend(task, claim_token)).toBe('409 not_extendable');
      const due = await call('read');
      const late = await claimed(door, due);
      await pastDeadline(one, due);
      expect(await extend(due, late)).toBe('409 not_extendable');
    });

    it('needs its fields', async () => {
      const task = await call('read');
      const claim_token = await claimed(door, task);
      expect(codeOf(await door.ask('extend', { ...task, timeout_ms: 1 }))).toBe('400 parameter_missing');
      expect(codeOf(await door.ask('extend', { ...task, claim_token }))).toBe('400 parameter_missing');
    });
  });

  describe('commit', () => {
    it('settles the task with its result, byte for byte', async () => {
      const task = await call('bash');
      const claim_token = await claimed(door, task);
      const content = '[ {"type":"text","text":"\\u00e9 é \\/ 😀","x":1.50} ]';
      const structured = '{"z":1E+2, "a":12345678901234567890 , "n":null}';
      const metadata = '{"b":2.0,"checkpoint" : {"z":1.0, "a":[ ]}}';
      const body =
        `{"run_public_id":"${task.run_public_id}","task_key":"${task.task_key}","claim_token":"${claim_token}",` +
        `"content":${content},"structured_content":${structured},"is_error":true,"title":"T é","metadata":${metadata}}`;
      const answer = await door.ask('commit', body);
      expect(answer.status).toBe(200);
      const read = await two.http(
        'GET',
        `/agent_api/v1/runs/${task.run_public_id}/tasks/${task.task_key}?wait_ms=5000`,
        { token: agent.token },
      );
      for (const { text } of [answer, read]) {
        expect(text).toContain(`"content":${content}`);
        expect(text).toContain(`"structured_content":${structured}`);
        expect(text).toContain(`"metadata":${metadata}`);
      }
      expect(read.body.task).toMatchObject({ status: 'completed', is_error: true, title: 'T é' });
      expect(await capture(task)).toMatchObject({ generation: 1, checkpoint: '{"z":1.0, "a":[ ]}' });
    });

    it('wakes who waits for it on another node', async () => {
      const task = await call('read');
      const claim_token = await claimed(door, task);
      const waiting = taskNow(two, agent, task, 20_000);
      await door.ask('commit', { ...task, claim_token, content: 'here' });
      expect(await waiting).toMatchObject({ status: 'completed', content: 'here' });
    });

    it('with outcome failed is tool_failed; a result without content has none', async () => {
      const [failed, empty] = [await call('read'), await call('read')];
      const token = await claimed(door, failed);
      const { body } = await door.ask('commit', {
        ...failed,
        claim_token: token,
        outcome: 'failed',
        content: 'no disk',
      });
      expect(body.task).toMatchObject({
        status: 'failed',
        error: { key: 'tool_failed' },
        content: 'no disk',
      });
      const done = await door.ask('commit', { ...empty, claim_token: await claimed(door, empty) });
      expect(done.body.task).toMatchObject({ status: 'completed', is_error: false });
      for (const field of ['content', 'structured_content', 'title', 'metadata', 'error', 'recovery']) {
        expect(done.body.task).not.toHaveProperty(field);
      }
    });

    it('keeps a structured_content of null, which is not an absent one', async () => {
      const task = await call('read');
      const claim_token = await claimed(door, task);
      const { body } = await door.ask('commit', { ...task, claim_token, structured_content: null });
      expect(body.task.structured_content).toBeNull();
      expect((await taskNow(one, agent, task)).structured_content).toBeNull();
    });

    it.each([
      ['an absent checkpoint', { note: 1 }, null],
      ['a checkpoint of null', { checkpoint: null }, 'null'],
      ['a checkpoint', { checkpoint: { ref: 'c1' } }, '{"ref":"c1"}'],
    ])('takes %s for a fact of its own', async (_, metadata, checkpoint) => {
      const task = await call('bash');
      const claim_token = await claimed(door, task);
      await door.ask('commit', { ...task, claim_token, metadata });
      expect(await capture(task)).toMatchObject({ generation: 1, checkpoint });
    });

    it.each([
      ['content of a wrong type', { content: 7 }, 'invalid_content'],
      ['a content of null', { content: null }, 'invalid_content'],
      ['a block without text', { content: [{ type: 'text' }] }, 'invalid_content'],
      ['an unknown block', { content: [{ type: 'video' }] }, 'unsupported_content_kind'],
      [
        '65 blocks',
        { content: Array.from({ length: 65 }, () => ({ type: 'text', text: '' })) },
        'too_many_content_blocks',
      ],
      ['768 KiB and a byte', { content: 'x'.repeat(768 * 1024 - 1) }, 'result_too_large'],
      ['metadata over 64 KiB', { metadata: { x: 'x'.repeat(64 * 1024) } }, 'metadata_too_large'],
      ['metadata that is no object', { metadata: [] }, 'validation_failed'],
      ['a title of 257 characters', { title: 't'.repeat(257) }, 'invalid_title'],
      ['an unknown outcome', { outcome: 'maybe' }, 'validation_failed'],
      ['an is_error that is no boolean', { is_error: 'yes' }, 'validation_failed'],
    ])('of %s is refused and leaves the park standing', async (_, result, code) => {
      const task = await call('bash');
      const claim_token = await claimed(door, task);
      const answer = await door.ask('commit', { ...task, claim_token, ...result });
      expect(codeOf(answer)).toBe(`422 ${code}`);
      expect((await door.ask('claim_status', { ...task, claim_token })).body.claim.active).toBe(true);
      const after = await door.ask('commit', { ...task, claim_token, content: 'fine' });
      expect(after.body.task).toMatchObject({ status: 'completed', content: 'fine' });
    });

    it.each([
      ['a NUL', '"content":"a\\u0000b"'],
      ['a lone surrogate', '"structured_content":{"a":["\\ud800"]}'],
      ['a NUL in a key of metadata', '"metadata":{"\\u0000":1}'],
    ])('of %s is result_unstorable and closes the task', async (_, member) => {
      const task = await call('bash');
      const claim_token = await claimed(door, task);
      const body = `{"run_public_id":"${task.run_public_id}","task_key":"${task.task_key}","claim_token":"${claim_token}",${member}}`;
      expect(codeOf(await door.ask('commit', body))).toBe('422 result_unstorable');
      expect(await taskNow(two, agent, task)).toMatchObject({
        status: 'failed',
        error: { key: 'result_unstorable' },
      });
      const again = await door.ask('commit', { ...task, claim_token, content: 'fine' });
      expect(again).toMatchObject({ status: 200, body: { task: { status: 'failed' } } });
      expect(again.body.task).not.toHaveProperty('content');
    });

    it('keeps the order of its checks', async () => {
      const task = await call('read');
      const stranger = await at((await ownRunner()).executor);
      const commit = async (claim_token: string, fields: object = {}, at = door): Promise<string> =>
        codeOf(await at.ask('commit', { ...task, claim_token, ...fields }));
      expect(await commit(newToken(), {}, stranger)).toBe('409 not_addressed_here');
      expect(await commit(newToken(), { content: 7 })).toBe('409 task_not_running');
      const claim_token = await claimed(door, task);
      expect(await commit(claim_token, {}, stranger)).toBe('409 not_addressed_here');
      expect(await commit(newToken(), { content: 7 })).toBe('409 stale_claim');
      expect(await commit(claim_token, { content: 7 })).toBe('422 invalid_content');
      expect(await commit(claim_token, { content: 'first' })).toBe('200');
      expect(await commit(newToken(), {})).toBe('409 stale_claim');
      expect(await commit(claim_token, { content: 7 })).toBe('200');
      expect((await taskNow(one, agent, task)).content).toBe('first');
      await nextGeneration(task);
      expect(await commit(claim_token, {})).toBe('409 task_not_running');
      await claimed(door, task);
      expect(await commit(claim_token, {})).toBe('409 stale_claim');
    });

    it('is write-once: a repeat answers the task unchanged, byte for byte', async () => {
      const task = await call('bash');
      const claim_token = await claimed(door, task);
      const first = await door.ask('commit', { ...task, claim_token, content: 'one', metadata: { a: 1 } });
      const again = await door.ask('commit', {
        ...task,
        claim_token,
        content: 'two',
        metadata: { checkpoint: 2 },
      });
      expect(again.text).toBe(first.text);
      expect(await capture(task)).toMatchObject({ checkpoint: null });
    });

    it.each([
      ['read', 'timed_out', 'tool_timeout', undefined],
      ['bash', 'uncertain', 'tool_uncertain', undefined],
      ['keyed', 'uncertain', 'tool_uncertain', 'retry_with_same_key'],
      ['lookup', 'uncertain', 'tool_uncertain', 'lookup'],
    ])(
      'of %s past the deadline settles it %s and drops the content',
      async (toolName, status, key, recovery) => {
        const task = await call(toolName);
        const claim_token = await claimed(door, task);
        await pastDeadline(one, task);
        const late = { ...task, claim_token, content: 'late', metadata: { checkpoint: { ref: 9 } } };
        const { status: answered, body } = await door.ask('commit', late);
        expect(answered).toBe(200);
        expect(body.task).toMatchObject({ status, error: { key } });
        expect(body.task.recovery).toBe(recovery);
        expect(body.task).not.toHaveProperty('content');
        expect(body.task).not.toHaveProperty('metadata');
        if (toolName !== 'read') expect(await capture(task)).toMatchObject({ checkpoint: '{"ref":9}' });
        expect((await door.ask('commit', late)).body).toEqual(body);
      },
    );

    it('past the deadline drops a result that would be refused, too, and keeps its checkpoint', async () => {
      const task = await call('bash');
      const claim_token = await claimed(door, task);
      await pastDeadline(one, task);
      const { status, body } = await door.ask('commit', {
        ...task,
        claim_token,
        content: 7,
        metadata: { checkpoint: 1 },
      });
      expect({ status, task: body.task.status }).toEqual({ status: 200, task: 'uncertain' });
      expect(await capture(task)).toMatchObject({ checkpoint: '1' });
    });

    it('after a cancel answers that task, and keeps only the checkpoint, once', async () => {
      const stopped = await newRun(one, agent, runner);
      const task = await parked(one, agent, stopped, callStep('bash'));
      const claim_token = await claimed(door, task);
      ok(await one.http('POST', `/agent_api/v1/runs/${stopped}/stop`, { token: agent.token }));
      const commit = (checkpoint: unknown) =>
        door.ask('commit', { ...task, claim_token, content: 'x', metadata: { checkpoint } });
      const { status, body } = await commit({ ref: 'c' });
      expect(status).toBe(200);
      expect(body.task).toMatchObject({ status: 'canceled' });
      expect(body.task).not.toHaveProperty('content');
      await commit('other');
      expect(await capture(task)).toMatchObject({ checkpoint: '{"ref":"c"}' });
    });

    it('needs a token that is a string', async () => {
      const task = await call('read');
      expect(codeOf(await door.ask('commit', task))).toBe('400 parameter_missing');
      expect(codeOf(await door.ask('commit', { ...task, claim_token: 5 }))).toBe('422 validation_failed');
    });
  });

  describe('after a re-pair', () => {
    it('nobody continues the claims of the epoch before; unclaimed work stays with the executor', async () => {
      const fields = {
        kind: 'runner',
        display_name: 'Paired twice',
        manager_public_id: account.adminId,
        registration_identifier: `twice-${name}`,
        assignment_scope: 'account_wide',
      };
      const first = await newExecutor(one, account, fields);
      await announce(one, first, TOOLS);
      const own = await newRun(one, agent, first);
      const [running, waiting] = [
        await parked(one, agent, own, callStep('bash')),
        await parked(one, agent, own, callStep('bash')),
      ];
      const claim_token = await claimed(await at(first), running);
      const mine = await at(await repaired(fields));
      for (const verb of ['claim', 'extend', 'commit'] as const) {
        const answer = await mine.ask(verb, { ...running, claim_token, timeout_ms: 1_000, content: 'x' });
        expect([verb, codeOf(answer)]).toEqual([verb, '409 stale_claim']);
      }
      expect(codeOf(await mine.ask('claim_status', { ...running, claim_token }))).toBe('409 not_claimant');
      expect(codeOf(await mine.ask('claim', { ...running, claim_token: newToken() }))).toBe(
        '409 already_claimed',
      );
      expect((await mine.ask('claim', waiting)).status).toBe(200);
      await pastDeadline(one, running);
      expect(await taskNow(two, agent, running, 10_000)).toMatchObject({ status: 'uncertain' });
    });
  });

  describe('progress', () => {
    it('is the claimant’s alone, and refused by its size and grammar', async () => {
      const task = await call('read');
      const claim_token = await claimed(door, task);
      const show = async (frame: unknown): Promise<string> =>
        codeOf(await door.ask('progress', { frame })).replace('202', '200');
      expect(await show({ ...task, claim_token, text_tail: 'half' })).toBe('200');
      expect(await show({ ...task, claim_token, structured: { done: 1 } })).toBe('200');
      expect(await show({ ...task, claim_token: newToken() })).toBe('409 not_claimant');
      expect(await show({ ...task, claim_token, text_tail: 'x'.repeat(64 * 1024) })).toBe(
        '422 frame_too_large',
      );
      expect(await show({ ...task, claim_token, text_tail: 1 })).toBe('422 validation_failed');
      expect(await show(undefined)).toBe('400 parameter_missing');
      expect(await show(5)).toBe('422 validation_failed');
      expect(await show({ task_key: task.task_key, claim_token })).toBe('400 parameter_missing');
      expect(await show({ ...task, task_key: 'unknown', claim_token })).toBe('404 not_found');
    });
  });

  describe('the inbox', () => {
    it('shows all that waits, oldest first, and what is claimed as claimed', async () => {
      const own = await ownRunner();
      const mine = await at(own.executor);
      const names: TaskName[] = [];
      for (const step of [
        callStep('bash', { tool_call_id: 'call_1', input: { a: 1 } }),
        toolStep('read', own.executor),
      ]) {
        names.push(await parked(one, agent, own.run, step));
      }
      const [first, second] = names as [TaskName, TaskName];
      const claim_token = await claimed(mine, first);
      const { body } = await mine.ask('inbox');
      expect(body.pagination).toEqual({ next_after: null });
      expect(body.tasks).toEqual([
        {
          kind: 'tool_call',
          ...first,
          conversation_public_id: null,
          parent_run_public_id: null,
          tool_name: 'bash',
          tool_alias: 'bash',
          tool_input: { a: 1 },
          tool_call_id: 'call_1',
          started_at: expect.any(String),
          deadline_at: expect.any(String),
          timeout_ms: 60_000,
          claimed: true,
          addressed_to: { role: 'runner', executor_public_id: own.executor.id },
        },
        {
          kind: 'tool_call',
          ...second,
          conversation_public_id: null,
          parent_run_public_id: null,
          tool_name: 'read',
          tool_input: {},
          started_at: expect.any(String),
          deadline_at: expect.any(String),
          timeout_ms: 60_000,
          claimed: false,
          addressed_to: { role: 'runner', executor_public_id: own.executor.id },
        },
      ]);
      await mine.ask('commit', { ...first, claim_token });
      expect((await mine.ask('inbox')).body.tasks).toEqual([expect.objectContaining(second)]);
    });

    it('pages by limit without a gap, and ends a page early at 512 KiB', async () => {
      const own = await ownRunner();
      const mine = await at(own.executor);
      const big = { text: 'x'.repeat(250 * 1024) };
      const inputs = [{}, {}, big, big, big, {}, {}, {}, {}, {}];
      const keys: string[] = [];
      for (const input of inputs) {
        keys.push((await parked(one, agent, own.run, callStep('read', { input }))).task_key);
      }
      const pages: string[][] = [];
      let after: string | undefined;
      do {
        const { body, text } = await mine.ask('inbox', { limit: 5, ...(after ? { after } : {}) });
        expect(text.length).toBeLessThanOrEqual(512 * 1024 + 1_024);
        pages.push((body.tasks as TaskName[]).map(({ task_key }) => task_key));
        after = body.pagination.next_after ?? undefined;
      } while (after);
      expect(pages).toEqual([keys.slice(0, 4), keys.slice(4, 9), keys.slice(9)]);
    });

    it.each([{ limit: 0 }, { limit: 201 }, { after: 'nonsense' }])('refuses %p', async (query) => {
      expect(codeOf(await door.ask('inbox', query))).toBe('400 parameter_invalid');
    });
  });

  describe('a pool', () => {
    it('is offered to every eligible provider that announces the name, and claimed by one', async () => {
      const toolName = `pooled_${name}`;
      const provider = (fields: object = {}): Promise<TestExecutor> =>
        newRunner(one, account, { kind: 'tool_provider', ...fields });
      const providers = [await provider(), await provider()];
      const [silent, closed] = [await provider(), await provider()];
      for (const each of [...providers, closed]) await announce(one, each, [tool(toolName)]);
      await announce(one, silent, [tool('another')]);
      await administer('shutdown', closed);
      const [task] = [await parked(one, agent, run, toolStep(toolName))];
      const [mine, theirs, other, shut] = await Promise.all([...providers, silent, closed].map(at));
      if (!mine || !theirs || !other || !shut) throw new Error('four doors');
      for (const open of [mine, theirs]) {
        expect((await open.ask('inbox')).body.tasks).toEqual([
          expect.objectContaining({ ...task, claimed: false, addressed_to: { role: 'tool_provider' } }),
        ]);
      }
      for (const outside of [other, shut]) expect((await outside.ask('inbox')).body.tasks).toEqual([]);
      expect(codeOf(await other.ask('claim', task))).toBe('409 not_addressed_here');
      expect(codeOf(await door.ask('claim', task))).toBe('409 not_addressed_here');
      expect(codeOf(await shut.ask('claim', task))).toBe('409 not_eligible');
      expect(codeOf(await mine.ask('commit', { ...task, claim_token: newToken() }))).toBe(
        '409 task_not_running',
      );
      const claim_token = await claimed(mine, task);
      expect(codeOf(await theirs.ask('claim', task))).toBe('409 already_claimed');
      expect((await theirs.ask('inbox')).body.tasks).toEqual([]);
      expect((await mine.ask('inbox')).body.tasks).toEqual([
        expect.objectContaining({ ...task, claimed: true }),
      ]);
      expect(codeOf(await theirs.ask('commit', { ...task, claim_token }))).toBe('409 not_addressed_here');
      await announce(one, providers[0] as TestExecutor, []);
      expect((await mine.ask('claim', { ...task, claim_token })).status).toBe(200);
      expect((await mine.ask('commit', { ...task, claim_token, content: 1 })).status).toBe(422);
      expect((await mine.ask('commit', { ...task, claim_token, content: 'x' })).body.task.status).toBe(
        'completed',
      );
    });
  });

  /** Another account’s runner, on this node. */
  async function foreigner(): Promise<{ node: TestNode; runner: TestExecutor }> {
    const other = await secondAccount(one);
    return { node: one, runner: await newRunner(one, other) };
  }
});

describe('a pruned run', () => {
  it('answers every verb on its tasks with execution_details_pruned', async () => {
    const door = restDoor(one, runner);
    const pruned = await newRun(one, agent, runner);
    const task = await parked(one, agent, pruned, callStep('read'));
    const claim_token = await claimed(door, task);
    await door.ask('commit', { ...task, claim_token });
    await one.db.pool.query(`update runs set details_pruned_at = now() where id = $1`, [pruned]);
    await one.db.pool.query(`delete from tasks where run_id = $1`, [pruned]);
    for (const verb of ['claim', 'claim_status', 'extend', 'commit'] as const) {
      const answer = await door.ask(verb, { ...task, claim_token, timeout_ms: 1_000 });
      expect([verb, codeOf(answer)]).toEqual([verb, '410 execution_details_pruned']);
    }
    const answer = await door.ask('progress', { frame: { ...task, claim_token } });
    expect(codeOf(answer)).toBe('410 execution_details_pruned');
  });
});

describe('races over two nodes', () => {
  const both = (): Door[] => [restDoor(one, runner), restDoor(two, runner)];
  const each = <T>(count: number, work: (index: number) => Promise<T>): Promise<T[]> =>
    Promise.all(Array.from({ length: count }, (_, index) => work(index)));

  it('of many claims of one task exactly one wins', async () => {
    const [here, there] = both() as [Door, Door];
    for (let round = 0; round < 5; round += 1) {
      const task = await call('bash');
      const answers = await each(24, (index) =>
        (index % 2 ? here : there).ask('claim', { ...task, claim_token: newToken() }),
      );
      const outcomes = answers.map((answer) => codeOf(answer)).sort();
      expect(outcomes).toEqual(['200', ...Array.from({ length: 23 }, () => '409 already_claimed')]);
    }
  });

  it('many claims with one token are one claim', async () => {
    const [here, there] = both() as [Door, Door];
    const task = await call('bash');
    const claim_token = newToken();
    const answers = await each(16, (index) =>
      (index % 2 ? here : there).ask('claim', { ...task, claim_token }),
    );
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers[0]?.status).toBe(200);
  });

  it('of a pool row many providers race for, one wins', async () => {
    const providers = await each(6, () => newRunner(one, account, { kind: 'tool_provider' }));
    for (const provider of providers) await announce(one, provider, [tool('raced')]);
    const tasks = await each(8, () => parked(one, agent, run, toolStep('raced')));
    const answers = await Promise.all(
      tasks.flatMap((task) =>
        providers.map(async (provider, index) => {
          const answer = await restDoor(index % 2 ? one : two, provider).ask('claim', task);
          return { key: task.task_key, outcome: codeOf(answer) };
        }),
      ),
    );
    const won = answers.filter((answer) => answer.outcome === '200').map(({ key }) => key);
    expect(won.sort()).toEqual(tasks.map(({ task_key }) => task_key).sort());
    expect(new Set(answers.map((answer) => answer.outcome))).toEqual(new Set(['200', '409 already_claimed']));
  });

  it('of many commits one is kept, and all are answered it', async () => {
    const [here, there] = both() as [Door, Door];
    const task = await call('bash');
    const claim_token = await claimed(here, task);
    const answers = await each(16, (index) =>
      (index % 2 ? here : there).ask('commit', { ...task, claim_token, content: `result ${index}` }),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 16 }, () => 200));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  });

  it('64 calls claimed and committed at once are each settled with their own result', async () => {
    const [here, there] = both() as [Door, Door];
    const steps = Array.from({ length: 64 }, (_, index) => callStep('bash', { input: { index } }));
    const { tasks } = ok(await accept(one, agent, run, steps)).body as {
      tasks: (TaskName & { tool_input: { index: number } })[];
    };
    const settled = await Promise.all(
      tasks.map(async ({ run_public_id, task_key, tool_input: { index } }) => {
        const task = { run_public_id, task_key };
        const claim_token = await claimed(index % 2 ? here : there, task);
        const content = `result ${index}`;
        const { body } = await (index % 3 ? here : there).ask('commit', { ...task, claim_token, content });
        return { content: body.task.content as string, index: body.task.tool_input.index as number };
      }),
    );
    expect(settled.filter(({ content, index }) => content !== `result ${index}`)).toEqual([]);
  });

  it('a stop and claims at the same time leave no open task', async () => {
    const door = restDoor(two, runner);
    const stopped = await newRun(one, agent, runner);
    const steps = Array.from({ length: 32 }, () => callStep('bash'));
    const { tasks } = ok(await accept(one, agent, stopped, steps)).body as { tasks: TaskName[] };
    const [, ...answers] = await Promise.all([
      one.http('POST', `/agent_api/v1/runs/${stopped}/stop`, { token: agent.token }).then(ok),
      ...tasks.map(({ run_public_id, task_key }) => door.ask('claim', { run_public_id, task_key })),
    ]);
    for (const answer of answers) {
      expect(['200', '409 task_not_claimable']).toContain(codeOf(answer));
    }
    const { rows } = await one.db.pool.query(
      `select status, count(*)::int as tasks from tasks where run_id = $1 group by status`,
      [stopped],
    );
    expect(rows).toEqual([{ status: 'canceled', tasks: 32 }]);
  });
});

describe('progress', () => {
  it('is broadcast to every node without the token, at most one frame in 250 ms for a task', async () => {
    const heard: unknown[] = [];
    let stop = (): void => undefined;
    const first = new Promise<void>((resolve) => {
      stop = two.app.get(NodeEvents).on('progress', (event) => {
        heard.push(event);
        resolve();
      });
    });
    const task = await call('read');
    const door = restDoor(one, runner);
    const claim_token = await claimed(door, task);
    const frames = Array.from({ length: 10 }, (_, index) => ({
      frame: { ...task, claim_token, text_tail: `line ${index}`, structured: { index } },
    }));
    for (const frame of frames) expect((await door.ask('progress', frame)).status).toBe(202);
    await first;
    stop();
    expect(heard.length).toBeLessThan(10);
    expect(heard[0]).toEqual({
      run: task.run_public_id,
      key: task.task_key,
      frame: { text_tail: 'line 0', structured: { index: 0 } },
    });
    expect(JSON.stringify(heard)).not.toContain(claim_token);
  });
});

describe('expiry', () => {
  it('settles what is due within two seconds, once, on whichever node', async () => {
    const held = await newAgent(one, account);
    const heldRun = await newRun(one, held, runner);
    const tasks = {
      unclaimed: await call('bash'),
      read: await call('read'),
      write: await call('bash'),
      keyed: await call('keyed'),
    };
    const approval = await parked(one, held, heldRun, callStep('bash'));
    const door = restDoor(one, runner);
    for (const task of [tasks.read, tasks.write, tasks.keyed]) await claimed(door, task);
    const started = Date.now();
    await Promise.all([...Object.values(tasks), approval].map((task) => pastDeadline(one, task)));
    const after = Object.fromEntries(
      await Promise.all(
        Object.entries(tasks).map(async ([state, task]) => [state, await taskNow(two, agent, task, 10_000)]),
      ),
    ) as Record<string, unknown>;
    expect(Date.now() - started).toBeLessThan(2_000);
    expect(after).toMatchObject({
      unclaimed: { status: 'timed_out', error: { key: 'tool_timeout' } },
      read: { status: 'timed_out', error: { key: 'tool_timeout' } },
      write: {
        status: 'uncertain',
        error: { key: 'tool_uncertain', detail: 'the effect may have happened' },
      },
      keyed: { status: 'uncertain', recovery: 'retry_with_same_key' },
    });
    expect(await taskNow(two, held, approval, 10_000)).toMatchObject({
      status: 'timed_out',
      error: { key: 'approval_expired' },
    });
  });

  it('of 1,000 tasks is announced once for each, by one of the nodes', async () => {
    const own = await ownRunner();
    for (let batch = 0; batch < 20; batch += 1) {
      await accept(
        one,
        agent,
        own.run,
        Array.from({ length: 50 }, () => callStep('read')),
      );
    }
    const announced: string[] = [];
    const stops = [one, two].map((node) =>
      node.app.get(NodeEvents).on('task', ({ run, key }, isRemote) => {
        if (!isRemote && run === own.run) announced.push(key);
      }),
    );
    await one.db.pool.query(`update tasks set deadline_at = now() where run_id = $1`, [own.run]);
    const open = async (): Promise<number> => {
      const { rows } = await one.db.pool.query<{ open: number }>(
        `select count(*)::int as open from tasks where run_id = $1 and settled_at is null`,
        [own.run],
      );
      return rows[0]?.open ?? 0;
    };
    const started = Date.now();
    while ((await open()) > 0) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(Date.now() - started).toBeLessThan(2_000);
    while (announced.length < 1_000) await new Promise((resolve) => setTimeout(resolve, 20));
    for (const stop of stops) stop();
    expect(new Set(announced).size).toBe(1_000);
    expect(announced).toHaveLength(1_000);
  });
});

describe('a revocation', () => {
  it('settles unclaimed tasks executor_revoked and claimed ones by the expiry rule, at once', async () => {
    const own = await ownRunner();
    const door = restDoor(one, own.executor);
    const park = (name: string): Promise<TaskName> => parked(one, agent, own.run, callStep(name));
    const [unclaimed, read, write] = [await park('bash'), await park('read'), await park('bash')];
    for (const task of [read, write]) await claimed(door, task);
    const waiting = taskNow(two, agent, write, 20_000);
    await administer('revoke', own.executor);
    expect(await waiting).toMatchObject({ status: 'uncertain', error: { key: 'tool_uncertain' } });
    expect(await taskNow(one, agent, unclaimed)).toMatchObject({
      status: 'failed',
      error: { key: 'executor_revoked' },
    });
    expect(await taskNow(one, agent, read)).toMatchObject({ status: 'timed_out' });
    expect(await capture(write)).toMatchObject({ runner: own.executor.id });
    expect((await door.ask('claim', unclaimed)).status).toBe(401);
  });

  it('and acceptances at the same time leave no open task', async () => {
    for (let round = 0; round < 5; round += 1) {
      const own = await ownRunner();
      const [revoked, ...answers] = await Promise.all([
        administer('revoke', own.executor),
        ...Array.from({ length: 16 }, (_, index) =>
          accept(index % 2 ? one : two, agent, own.run, [callStep('bash')]),
        ),
      ]);
      expect(revoked).toBeDefined();
      for (const answer of answers) expect(['201', '422 runner_not_eligible']).toContain(codeOf(answer));
      const { rows } = await one.db.pool.query(
        `select count(*)::int as open from tasks where addressed_id = $1 and settled_at is null`,
        [own.executor.id],
      );
      expect(rows).toEqual([{ open: 0 }]);
    }
  });

  it('that comes while an acceptance waits is seen by it', async () => {
    const own = await ownRunner();
    const holder = await one.db.pool.connect();
    try {
      await holder.query('begin');
      await holder.query('select from runs where id = $1 for update', [own.run]);
      const accepting = accept(one, agent, own.run, [callStep('bash')]);
      for (;;) {
        const { rows } = await one.db.pool.query(`select from pg_locks where not granted`);
        if (rows.length > 0) break;
      }
      await administer('revoke', own.executor);
      await holder.query('commit');
      expect(codeOf(await accepting)).toBe('422 runner_not_eligible');
    } finally {
      holder.release();
    }
  });

  it('and claims at the same time leave no open task, of a runner or of a pool', async () => {
    const own = await ownRunner();
    const provider = await newRunner(one, account, { kind: 'tool_provider' });
    await announce(one, provider, [tool('leaving')]);
    for (const [executor, step] of [
      [own.executor, callStep('bash')],
      [provider, toolStep('leaving')],
    ] as const) {
      const steps = Array.from({ length: 32 }, () => step);
      const { tasks } = ok(await accept(one, agent, own.run, steps)).body as { tasks: TaskName[] };
      const doors = [restDoor(one, executor), restDoor(two, executor)];
      const [, ...answers] = await Promise.all([
        administer('revoke', executor),
        ...tasks.map(({ run_public_id, task_key }, index) =>
          (doors[index % 2] as Door).ask('claim', { run_public_id, task_key }),
        ),
      ]);
      for (const answer of answers) {
        expect(['200', '401 unauthorized', '409 executor_revoked']).toContain(codeOf(answer));
      }
      const { rows } = await one.db.pool.query(
        `select count(*)::int as held from tasks where claimed_by = $1 and settled_at is null`,
        [executor.id],
      );
      expect(rows).toEqual([{ held: 0 }]);
    }
  });
});
