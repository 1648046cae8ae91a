import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { NodeEvents } from '../../src/bus/node-events.js';
import { newId } from '../../src/db/ids.js';
import { Sweep } from '../../src/work/sweep.service.js';
import { secondAccount } from '../discovery/second-account.js';
import { accept, callStep, outcome, type TaskBody, taskOf, toolStep } from '../routing/stage.js';
import { until } from '../support/cluster.js';
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
import {
  claimed,
  codeOf,
  type Door,
  newToken,
  pastDeadline,
  restDoor,
  type TaskName,
  taskNow,
} from './stage.js';

let one: TestNode;
let two: TestNode;
let account: TestAccount;
let admin: TestMember;
let steward: TestMember;
let agent: TestMember;
let runner: TestExecutor;
/** The agent's run in mode `ask`. */
let run: string;

const TOOLS = [
  tool('read'),
  tool('bash', { effect_profile: WRITE }),
  tool('keyed', { effect_profile: { ...WRITE, idempotency: 'keyed' } }),
];

beforeAll(async () => {
  one = await TestNode.start();
  two = await TestNode.start({}, one);
  account = await firstAccount(one);
  admin = await withToken(one, account, account.adminId);
  steward = await newHuman(one, account);
  agent = await newAgent(one, account, { steward_public_id: steward.id });
  runner = await newRunner(one, account);
  await announce(one, runner, TOOLS);
  run = await newRun(one, agent, runner);
});

afterAll(async () => {
  await two?.close();
  await one?.close();
});

type Adjudication = 'approve' | 'deny' | 'retry' | 'cancel';

interface Asked {
  readonly node?: TestNode;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

/** A verb of adjudication, by whoever holds `token`. */
const ask = (
  verb: Adjudication,
  { run_public_id, task_key }: TaskName,
  { token }: { token: string },
  { node = one, body, headers = {} }: Asked = {},
): Promise<HttpAnswer> =>
  node.http('POST', `/agent_api/v1/runs/${run_public_id}/tasks/${task_key}/${verb}`, {
    token,
    body,
    headers,
  });

const onPlatform = (
  verb: 'approve' | 'deny',
  { run_public_id, task_key }: TaskName,
  token: string,
  body?: unknown,
): Promise<HttpAnswer> =>
  one.http('POST', `/platform_api/v1/runs/${run_public_id}/tasks/${task_key}/${verb}`, { token, body });

const bodyOf = (answer: HttpAnswer): TaskBody => (ok(answer).body as { task: TaskBody }).task;

/** Accepts one step on a run of `member`. */
const call = async (step: object, onRun = run, member = agent): Promise<TaskBody> =>
  taskOf(await accept(one, member, onRun, [step]));

const rested = async (onRun = run, member = agent): Promise<TaskBody> => {
  const task = await call(callStep('bash', { input: { command: 'secret words' } }), onRun, member);
  expect(task.status).toBe('needs_approval');
  return task;
};

/** A runner of its own with a run of the agent in mode `ask`. */
async function ownRunner(tools: object[] = TOOLS): Promise<{ box: TestExecutor; boxRun: string }> {
  const box = await newRunner(one, account);
  await announce(one, box, tools);
  return { box, boxRun: await newRun(one, agent, box) };
}

const administer = async (verb: string, executor: TestExecutor): Promise<void> => {
  const path = `/platform_api/v1/executors/${executor.id}/${verb}`;
  ok(await one.http('POST', path, { token: account.platformToken }));
};

const audited = async (subject: string): Promise<Record<string, unknown>[]> => {
  const path = '/platform_api/v1/audit?limit=200';
  const answer = ok(await one.http('GET', path, { token: account.platformToken }));
  const { entries } = answer.body as { entries: Record<string, unknown>[] };
  return entries.filter(({ subject_public_id }) => subject_public_id === subject);
};

/** A claim by the runner, committed as failed: what may be retried. */
async function failed(onRun: string, box: TestExecutor, member = agent, name = 'read'): Promise<TaskBody> {
  const task = await call(callStep(name), onRun, member);
  const door = restDoor(one, box);
  const claim_token = await claimed(door, task);
  expect((await door.ask('commit', { ...nameOf(task), claim_token, outcome: 'failed' })).status).toBe(200);
  return task;
}

const nameOf = ({ run_public_id, task_key }: TaskName): TaskName => ({ run_public_id, task_key });

describe('approve', () => {
  it('lets the call go to its target, on a fresh clock, and keeps who decided', async () => {
    const task = await rested();
    const approved = bodyOf(await ask('approve', task, steward, { node: two }));
    expect(approved).toMatchObject({
      ...nameOf(task),
      status: 'dispatched',
      generation: 1,
      effect_profile: WRITE,
      approval: { origin: 'human', decided_by: steward.id, decided_at: approved['started_at'] },
    });
    const { started_at, deadline_at } = approved as unknown as Record<string, string>;
    expect(Date.parse(deadline_at ?? '') - Date.parse(started_at ?? '')).toBe(approved.timeout_ms);
    const door = restDoor(one, runner);
    const claim_token = await claimed(door, task);
    ok({ ...(await door.ask('commit', { ...nameOf(task), claim_token, content: 'done' })), headers: {} });
    expect(await taskNow(two, agent, task)).toMatchObject({
      status: 'completed',
      approval: { origin: 'human', decided_by: steward.id },
    });
  });

  it('is pushed to the target as work that is available', async () => {
    const client = await onBus(runner);
    const pushes = client.connection.subscribe(runner.subjects.work);
    await client.connection.flush();
    const task = await rested();
    bodyOf(await ask('approve', task, steward));
    for await (const message of pushes) {
      expect(message.json()).toEqual({
        event: 'work_available',
        ...nameOf(task),
        kind: 'tool_call',
        tool_name: 'bash',
      });
      break;
    }
    await client.close();
  });

  it('is for the human whose run it is, the agent’s steward and admins, on either plane', async () => {
    const own = await newRun(one, steward, runner, { approval_mode: 'ask' });
    const deciders: [string, TaskBody, (task: TaskBody) => Promise<HttpAnswer>, string][] = [
      ['principal', await rested(own, steward), (task) => ask('approve', task, steward), steward.id],
      ['steward', await rested(), (task) => ask('approve', task, steward), steward.id],
      ['admin', await rested(), (task) => ask('approve', task, admin), admin.id],
      ['platform', await rested(), (task) => onPlatform('approve', task, account.platformToken), admin.id],
    ];
    for (const [name, task, decide, decided_by] of deciders) {
      expect([name, bodyOf(await decide(task))]).toMatchObject([
        name,
        { status: 'dispatched', approval: { origin: 'human', decided_by } },
      ]);
    }
  });

  it('settles failed where the target serves the tool no more or was revoked, and keeps the approval', async () => {
    const { box, boxRun } = await ownRunner();
    const task = await rested(boxRun);
    const orphan = await rested(boxRun);
    await announce(one, box, [tool('read')]);
    const kept = { origin: 'human', decided_by: steward.id };
    expect(bodyOf(await ask('approve', task, steward, { node: two }))).toMatchObject({
      status: 'failed',
      error: { key: 'tool_not_served' },
      approval: kept,
    });
    // not by its door, which settles at once what rests
    await one.db.pool.query(`update executors set status = 'revoked' where id = $1`, [box.id]);
    expect(bodyOf(await ask('approve', orphan, steward))).toMatchObject({
      status: 'failed',
      error: { key: 'executor_revoked' },
      approval: kept,
    });
  });

  it('of a revoked executor’s call comes too late: it was settled with the revocation', async () => {
    const { box, boxRun } = await ownRunner();
    const task = await rested(boxRun);
    await administer('revoke', box);
    expect(outcome(await ask('approve', task, steward))).toBe('409 not_awaiting_approval');
    expect(await taskNow(one, agent, task)).toMatchObject({
      status: 'failed',
      error: { key: 'executor_revoked' },
    });
  });

  it('leaves a call to an executor that is shutting down parked', async () => {
    const { box, boxRun } = await ownRunner();
    const task = await rested(boxRun);
    await administer('shutdown', box);
    expect(bodyOf(await ask('approve', task, steward)).status).toBe('dispatched');
    const claim = await restDoor(one, box).ask('claim', nameOf(task));
    expect(outcome({ ...claim, headers: {} })).toBe('409 not_eligible');
    await administer('resume', box);
    await claimed(restDoor(one, box), task);
  });

  it('runs a resting kernel tool in the kernel', async () => {
    const strict = await newAgent(one, account, {
      steward_public_id: steward.id,
      approval_rules: [{ tool: 'runners_list', verdict: 'ask' }],
    });
    const configuration = { kernel_tools: ['nexus.runners.list'], runner_executor_public_ids: [runner.id] };
    const strictRun = await newRun(one, strict, runner, { configuration });
    const task = await call(callStep('runners_list'), strictRun, strict);
    expect(task.status).toBe('needs_approval');
    expect(bodyOf(await ask('approve', task, steward))).toMatchObject({
      status: 'completed',
      is_error: false,
      structured_content: { current_runner_executor_public_id: runner.id },
      approval: { origin: 'human' },
    });
  });
});

describe('approve, when the announced entry changed since', () => {
  const bash = (fields: object = {}): object => tool('bash', { effect_profile: WRITE, ...fields });
  const closed = { ...WRITE, effect_scope: 'closed' };

  it.each<[string, object]>([
    ['description', { description: 'Another thing' }],
    ['schema', { input_schema: { type: 'object', required: ['command'] } }],
    ['profile', { effect_profile: closed }],
    ['profile, to one that needs no approval', { effect_profile: READ_ONLY }],
  ])('lets the call rest again with the new one and a fresh clock (%s)', async (_name, change) => {
    const { box, boxRun } = await ownRunner([bash()]);
    const task = await rested(boxRun);
    await announce(one, box, [bash(change)]);
    const again = bodyOf(await ask('approve', task, steward, { node: two }));
    expect(again).toMatchObject({
      status: 'needs_approval',
      generation: 1,
      effect_profile: (change as { effect_profile?: object }).effect_profile ?? WRITE,
    });
    expect(again).not.toHaveProperty('approval');
    const [before, now] = [task, again].map(({ deadline_at }) => Date.parse(deadline_at as string));
    expect(now).toBeGreaterThan(before as number);
    expect(await audited(boxRun)).toEqual([]);
    expect(bodyOf(await ask('approve', task, steward))).toMatchObject({
      status: 'dispatched',
      effect_profile: again['effect_profile'],
      approval: { origin: 'human', decided_by: steward.id },
    });
  });

  it.each<[string, object[]]>([
    ['the same entry', [bash()]],
    ['another timeout', [bash({ timeout_ms: 1 })]],
    ['another tool beside it', [tool('read'), bash()]],
  ])('and only then: %s changes nothing', async (_name, tools) => {
    const { box, boxRun } = await ownRunner([bash()]);
    const task = await rested(boxRun);
    await announce(one, box, tools, { environment: { os: 'other' } });
    expect(bodyOf(await ask('approve', task, steward))).toMatchObject({
      status: 'dispatched',
      timeout_ms: task.timeout_ms,
    });
  });

  it('fails the call where the policy denies the new entry', async () => {
    const ward = await newAgent(one, account, {
      steward_public_id: steward.id,
      approval_rules: [
        { tool: 'bash', effect: { effect_scope: 'open' }, verdict: 'deny', reason: 'closed only' },
      ],
    });
    const box = await newRunner(one, account);
    await announce(one, box, [bash({ effect_profile: closed })]);
    const wardRun = await newRun(one, ward, box);
    const task = await rested(wardRun, ward);
    await announce(one, box, [bash()]);
    const denied = bodyOf(await ask('approve', task, steward));
    expect(denied).toMatchObject({
      status: 'failed',
      error: { key: 'approval_denied', detail: 'closed only' },
      approval: { origin: 'rule' },
    });
    expect(denied['approval']).not.toHaveProperty('decided_by');
  });

  it('never sends an agent’s call to what became an operator capability', async () => {
    const { box, boxRun } = await ownRunner([bash()]);
    const task = await rested(boxRun);
    await announce(one, box, [{ name: 'bash', effect_profile: WRITE }]);
    expect(bodyOf(await ask('approve', task, steward))).toMatchObject({
      status: 'failed',
      error: { key: 'tool_not_served' },
    });
    expect(await inboxOf(box)).toEqual([]);
  });

  it('is not fooled while announcements change: no call goes with an entry that nobody approved', async () => {
    const { box, boxRun } = await ownRunner([bash({ description: 'version 0' })]);
    const tasks = await Promise.all(Array.from({ length: 8 }, () => rested(boxRun)));
    const answers = await Promise.all([
      ...tasks.map((task, index) => ask('approve', task, steward, { node: index % 2 ? one : two })),
      announce(two, box, [bash({ description: 'version 1', effect_profile: closed })]),
    ]);
    for (const answer of answers.slice(0, tasks.length) as HttpAnswer[]) {
      const { status, effect_profile } = bodyOf(answer);
      expect([
        ['dispatched', WRITE],
        ['needs_approval', closed],
      ]).toContainEqual([status, effect_profile]);
    }
  });
});

/**
 * Holds what `lock` has written or locked until everybody who is asked stands at it, and runs `last` before it lets go.
 * Answers what they are answered.
 */
async function whileLocked(
  lock: string,
  params: string[],
  waiters: (() => Promise<HttpAnswer>)[],
  { last, after }: { last?: string; after?: () => void } = {},
): Promise<HttpAnswer[]> {
  const client = await one.db.pool.connect();
  try {
    await client.query('begin');
    await client.query(lock, params);
    const answers = waiters.map((asked) => asked());
    await until(async () => {
      const { rows } = await one.db.pool.query<{ count: number }>(
        `select count(*)::integer as count from pg_stat_activity
         where datname = current_database() and wait_event_type = 'Lock'`,
      );
      return rows[0]?.count === waiters.length;
    });
    if (last !== undefined) await client.query(last, params.slice(0, 1));
    await client.query('commit');
    after?.();
    return await Promise.all(answers);
  } finally {
    client.release();
  }
}

const LOCK_TASK = 'select from tasks where run_id = $1 and task_key = $2 for update';

it('an approval made twice at once does not approve what nobody was asked about', async () => {
  const { box, boxRun } = await ownRunner();
  const task = await rested(boxRun);
  await announce(one, box, [tool('bash', { effect_profile: WRITE, description: 'Another thing' })]);
  const answers = await whileLocked(
    LOCK_TASK,
    [task.run_public_id, task.task_key],
    [one, two].map((node) => () => ask('approve', task, steward, { node })),
  );
  expect(answers.map((answer) => bodyOf(answer).status)).toEqual(['needs_approval', 'needs_approval']);
  expect(bodyOf(await ask('approve', task, steward)).status).toBe('dispatched');
});

it('a retry sees a revocation that is under way, which does not see it', async () => {
  const { box, boxRun } = await ownRunner();
  const task = await failed(boxRun, box);
  const [answer] = await whileLocked(
    `update executors set status = 'revoked', revoked_at = now() where id = $1`,
    [box.id],
    [() => ask('retry', task, agent)],
  );
  expect(bodyOf(answer as HttpAnswer)).toMatchObject({
    status: 'failed',
    generation: 2,
    error: { key: 'executor_revoked' },
  });
});

it.each(['approve', 'retry'] as const)('%s sees a replacement that is under way', async (verb) => {
  const { box, boxRun } = await ownRunner();
  const task = verb === 'approve' ? await rested(boxRun) : await failed(boxRun, box);
  const profile = JSON.stringify({ ...WRITE, effect_scope: 'closed' });
  const [answer] = await whileLocked(
    `update announcements set version = version + 1, tools = (
       select json_agg(jsonb_set(tool::jsonb, '{effect_profile}', $2::jsonb)) from json_array_elements(tools) tool)
     where executor_id = $1`,
    [box.id, profile],
    [() => ask(verb, task, steward)],
    { after: () => one.app.get(NodeEvents).publish('executor', { id: box.id }) },
  );
  expect(bodyOf(answer as HttpAnswer)).toMatchObject({
    status: 'needs_approval',
    effect_profile: { kind: 'write', effect_scope: 'closed' },
  });
});

describe('deny', () => {
  it('fails the call with the reason, and it is never delivered', async () => {
    const { box, boxRun } = await ownRunner();
    const task = await rested(boxRun);
    const reason = 'Nicht heute: “später” 😀';
    expect(bodyOf(await ask('deny', task, steward, { body: { reason }, node: two }))).toMatchObject({
      status: 'failed',
      error: { key: 'approval_denied', detail: reason },
      approval: { origin: 'human', decided_by: steward.id },
    });
    expect(await inboxOf(box)).toEqual([]);
    const claim = await restDoor(one, box).ask('claim', nameOf(task));
    expect(outcome({ ...claim, headers: {} })).toBe('409 task_not_claimable');
  });

  it('takes no reason too, from an admin on the platform plane', async () => {
    const denied = bodyOf(await onPlatform('deny', await rested(), account.platformToken));
    expect(denied['error']).toEqual({ key: 'approval_denied' });
    expect(denied['approval']).toMatchObject({ origin: 'human', decided_by: admin.id });
  });

  it.each<[string, unknown, string]>([
    ['a number', { reason: 7 }, '422 validation_failed'],
    ['null', { reason: null }, '422 validation_failed'],
    ['blank', { reason: '  ' }, '422 validation_failed'],
    ['too long', { reason: 'x'.repeat(1_025) }, '422 validation_failed'],
    ['a NUL', '{"reason":"a\\u0000b"}', '422 validation_failed'],
    ['a lone surrogate', '{"reason":"\\ud800"}', '422 validation_failed'],
    ['a list', '[1]', '400 invalid_json'],
    ['truncated', '{"reason":', '400 invalid_json'],
  ])('refuses a reason that is %s, and the call rests on', async (_name, body, expected) => {
    const task = await rested();
    expect(outcome(await ask('deny', task, steward, { body }))).toBe(expected);
    expect(outcome(await onPlatform('deny', task, account.platformToken, body))).toBe(expected);
    expect((await taskNow(one, agent, task)).status).toBe('needs_approval');
  });
});

describe('A decision', () => {
  it('is a person’s: the agent itself is refused person_required, anyone else finds nothing', async () => {
    const task = await rested();
    const other = await secondAccount(one);
    const strangers: [string, string, TestMember][] = [
      ['the agent itself', '403 person_required', agent],
      ['another human', '404 not_found', await newHuman(one, account)],
      ['another agent', '404 not_found', await newAgent(one, account)],
      [
        'another agent of that steward',
        '404 not_found',
        await newAgent(one, account, { steward_public_id: steward.id }),
      ],
      ['another account’s admin', '404 not_found', await withToken(one, other, other.adminId)],
      ['an executor', '401 unauthorized', { ...agent, token: runner.token }],
      ['an administrator on the wrong plane', '401 unauthorized', { ...agent, token: account.platformToken }],
    ];
    for (const [name, expected, stranger] of strangers) {
      for (const verb of ['approve', 'deny'] as const) {
        expect([name, verb, outcome(await ask(verb, task, stranger))]).toEqual([name, verb, expected]);
      }
    }
    for (const verb of ['approve', 'deny'] as const) {
      expect(outcome(await onPlatform(verb, task, other.platformToken))).toBe('404 not_found');
      expect(outcome(await onPlatform(verb, task, admin.token))).toBe('401 unauthorized');
    }
    expect(await taskNow(one, agent, task)).toEqual(task);
  });

  it('of what is not there is not_found', async () => {
    const task = nameOf(await rested());
    for (const wrong of [
      { ...task, run_public_id: newId() },
      { ...task, run_public_id: 'run' },
      { ...task, task_key: 'unknown' },
      { ...task, task_key: 'a%20b' },
      { ...task, task_key: 'a%00b' },
    ]) {
      for (const verb of ['approve', 'deny', 'retry', 'cancel'] as const) {
        expect(outcome(await ask(verb, wrong, steward))).toBe('404 not_found');
      }
      expect(outcome(await onPlatform('approve', wrong, account.platformToken))).toBe('404 not_found');
    }
  });

  it('of what does not rest is not_awaiting_approval', async () => {
    const waiting = await call(callStep('read'));
    const denied = await rested();
    bodyOf(await ask('deny', denied, steward));
    const canceled = await rested();
    bodyOf(await ask('cancel', canceled, agent));
    for (const task of [waiting, denied, canceled]) {
      const before = await taskNow(one, agent, task);
      for (const verb of ['approve', 'deny'] as const) {
        expect(outcome(await ask(verb, task, steward))).toBe('409 not_awaiting_approval');
        expect(outcome(await onPlatform(verb, task, account.platformToken))).toBe(
          '409 not_awaiting_approval',
        );
      }
      expect(await taskNow(one, agent, task)).toEqual(before);
    }
  });

  it.each(['approve', 'deny'] as const)(
    'after the hold’s end settles approval_expired first: %s',
    async (verb) => {
      const task = await rested();
      await pastDeadline(one, task);
      expect(outcome(await ask(verb, task, steward))).toBe('409 not_awaiting_approval');
      expect(await taskNow(two, agent, task)).toMatchObject({
        status: 'timed_out',
        error: { key: 'approval_expired' },
      });
      expect(await taskNow(two, agent, task)).not.toHaveProperty('approval');
    },
  );

  it('after the hold’s end settles the call itself, where no sweep has come by', async () => {
    const alone = await TestNode.start();
    await alone.app.get(Sweep).beforeApplicationShutdown();
    const first = await firstAccount(alone);
    const human = await newHuman(alone, first);
    const box = await newRunner(alone, first);
    await announce(alone, box, TOOLS);
    const ownRun = await newRun(alone, human, box, { approval_mode: 'ask' });
    const step = callStep('bash');
    const resting = taskOf(await accept(alone, human, ownRun, [step]));
    await pastDeadline(alone, resting);
    expect((await taskNow(alone, human, resting)).status).toBe('needs_approval');
    expect(outcome(await ask('approve', resting, human, { node: alone }))).toBe('409 not_awaiting_approval');
    expect(await taskNow(alone, human, resting)).toMatchObject({
      status: 'timed_out',
      error: { key: 'approval_expired' },
    });
    await alone.close();
  });

  it('against an opposite one at once: one wins, the other is told', async () => {
    for (let round = 0; round < 12; round += 1) {
      const task = await rested();
      const [approval, denial] = await Promise.all([
        ask('approve', task, steward, { node: one }),
        ask('deny', task, admin, { node: two }),
      ]);
      expect([approval, denial].map(outcome).sort()).toEqual(['200', '409 not_awaiting_approval']);
      const status = approval.status === 200 ? 'dispatched' : 'failed';
      expect(await taskNow(one, agent, task)).toMatchObject({
        status,
        approval: { decided_by: approval.status === 200 ? steward.id : admin.id },
      });
    }
  });

  it('made many times at once is made once', async () => {
    const task = await rested();
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        ask('approve', task, steward, { node: index % 2 ? one : two }),
      ),
    );
    expect(answers.map(outcome).sort()).toEqual([
      '200',
      ...Array<string>(9).fill('409 not_awaiting_approval'),
    ]);
    const entries = (await audited(run)).filter(
      ({ detail }) => (detail as TaskName).task_key === task.task_key,
    );
    expect(entries).toHaveLength(1);
  });

  it('is audited, without the input', async () => {
    const [approved, denied] = [await rested(), await rested()];
    bodyOf(await ask('approve', approved, steward));
    bodyOf(await onPlatform('deny', denied, account.platformToken, { reason: 'no' }));
    const entries = await audited(run);
    const of = (task: TaskBody) =>
      entries.find(({ detail }) => (detail as TaskName).task_key === task.task_key);
    expect(of(approved)).toMatchObject({
      action: 'task.approved',
      actor_public_id: steward.id,
      detail: { tool_name: 'bash', generation: 1, status: 'dispatched' },
    });
    expect(of(denied)).toMatchObject({ action: 'task.denied', actor_public_id: admin.id });
    expect(JSON.stringify(entries)).not.toContain('secret words');
  });
});

interface InboxRow {
  readonly kind: string;
  readonly task_key: string;
}

const inboxOf = async (executor: TestExecutor): Promise<InboxRow[]> =>
  ((await restDoor(one, executor).ask('inbox')).body as { tasks: InboxRow[] }).tasks;

describe('The agent’s application', () => {
  it('is told of approvals, lists them with their profile, and cannot claim them', async () => {
    const author = await newAgent(one, account, { steward_public_id: steward.id });
    const application = await newExecutor(one, account, {
      kind: 'agent_application',
      display_name: 'Application',
      agent_public_id: author.id,
      assignment_scope: 'user_private',
    });
    await announce(one, application, [tool('publish', { effect_profile: WRITE })]);
    const client = await onBus(application);
    const pushes = client.connection.subscribe(application.subjects.work)[Symbol.asyncIterator]();
    await client.connection.flush();
    const authorRun = await newRun(one, author, null);
    const task = await call(toolStep('publish', undefined, { input: { a: 1 } }), authorRun, author);
    expect(task).toMatchObject({
      status: 'needs_approval',
      addressed_to: { role: 'agent_application', executor_public_id: application.id },
    });
    const pushed = async (): Promise<unknown> =>
      ((await pushes.next()).value as { json: () => unknown }).json();
    const push = { event: 'work_available', ...nameOf(task), tool_name: 'publish' };
    expect(await pushed()).toEqual({ ...push, kind: 'approval' });
    expect(await inboxOf(application)).toEqual([
      expect.objectContaining({
        ...nameOf(task),
        kind: 'approval',
        effect_profile: WRITE,
        tool_input: { a: 1 },
      }),
    ]);
    const claim = await client.ask('claim', nameOf(task));
    expect(claim).toMatchObject({ status: 409, code: 'not_claimable_kind' });
    // its credential is no person's
    expect(outcome(await ask('approve', task, { token: application.token }))).toBe('401 unauthorized');
    bodyOf(await ask('approve', task, steward));
    expect(await pushed()).toEqual({ ...push, kind: 'tool_call' });
    expect(await inboxOf(application)).toEqual([
      expect.objectContaining({ ...nameOf(task), kind: 'tool_call' }),
    ]);
    await claimed(restDoor(two, application), task);
    await client.close();
  });
});

describe('The list of approvals', () => {
  const list = async (path: string, token: string): Promise<{ tasks: TaskBody[]; next: string | null }> => {
    const answer = ok(await one.http('GET', path, { token }));
    const { tasks, pagination } = answer.body as {
      tasks: TaskBody[];
      pagination: { next_after: string | null };
    };
    return { tasks, next: pagination.next_after };
  };
  const MINE = '/agent_api/v1/approvals';

  it('is what the caller may decide, in order of acceptance', async () => {
    const [human, other] = [await newHuman(one, account), await newHuman(one, account)];
    const ward = await newAgent(one, account, { steward_public_id: human.id });
    const [wardRun, ownRun] = [
      await newRun(one, ward, runner),
      await newRun(one, human, runner, { approval_mode: 'ask' }),
    ];
    const resting = [await rested(wardRun, ward), await rested(ownRun, human), await rested(wardRun, ward)];
    await call(callStep('read'), wardRun, ward);
    expect((await list(MINE, human.token)).tasks).toEqual(resting);
    expect((await list(MINE, other.token)).tasks).toEqual([]);
    expect((await list(MINE, ward.token)).tasks).toEqual([]);
    for (const seen of [
      (await list(`${MINE}?limit=200`, admin.token)).tasks,
      (await list('/platform_api/v1/approvals?limit=200', account.platformToken)).tasks,
    ]) {
      expect(seen.filter(({ run_public_id }) => [wardRun, ownRun].includes(run_public_id))).toEqual(resting);
    }
    const foreign = await secondAccount(one);
    expect((await list('/platform_api/v1/approvals', foreign.platformToken)).tasks).toEqual([]);
    const [first, second] = resting as [TaskBody, TaskBody];
    bodyOf(await ask('approve', first, human));
    await pastDeadline(one, second);
    expect((await list(MINE, human.token)).tasks).toEqual(resting.slice(2));
  });

  it('is paged, also under decisions', async () => {
    const human = await newHuman(one, account);
    const ownRun = await newRun(one, human, runner, { approval_mode: 'ask' });
    const resting: TaskBody[] = [];
    for (let count = 0; count < 5; count += 1) resting.push(await rested(ownRun, human));
    const page = await list(`${MINE}?limit=2`, human.token);
    expect(page.tasks).toEqual(resting.slice(0, 2));
    bodyOf(await ask('deny', resting[0] as TaskBody, human));
    const next = await list(`${MINE}?limit=2&after=${page.next}`, human.token);
    expect(next.tasks).toEqual(resting.slice(2, 4));
    const last = await list(`${MINE}?limit=2&after=${next.next}`, human.token);
    expect(last).toEqual({ tasks: resting.slice(4), next: null });
    for (const query of ['limit=0', 'limit=201', 'limit=x', 'after=x', 'after=WyJhIl0']) {
      for (const [path, token] of [
        [MINE, human.token],
        ['/platform_api/v1/approvals', account.platformToken],
      ] as const) {
        expect(outcome(await one.http('GET', `${path}?${query}`, { token }))).toBe('400 parameter_invalid');
      }
    }
  });
});

it('a page of approvals ends early where inputs reach 4 MiB', async () => {
  const human = await newHuman(one, account);
  const ownRun = await newRun(one, human, runner, { approval_mode: 'ask' });
  const step = callStep('bash', { input: { text: 'x'.repeat(250 * 1024) } });
  for (let count = 0; count < 6; count += 1) ok(await accept(one, human, ownRun, [step, step, step]));
  const pages: number[] = [];
  for (let after: string | null = ''; after !== null;) {
    const path = `/agent_api/v1/approvals?limit=200&after=${after}`;
    const { body, text } = ok(await one.http('GET', path, { token: human.token }));
    const page = body as { tasks: TaskBody[]; pagination: { next_after: string | null } };
    expect(text.length).toBeLessThan(4.1 * 1024 * 1024);
    pages.push(page.tasks.length);
    after = page.pagination.next_after;
  }
  expect(pages).toEqual([16, 2]);
});

describe('retry', () => {
  let box: TestExecutor;
  let free: TestMember;
  let freeRun: string;

  beforeAll(async () => {
    ({ box } = await ownRunner());
    free = await newAgent(one, account, { steward_public_id: steward.id, approval_floor: 'bypass' });
    freeRun = await newRun(one, free, box);
  });

  const freeCall = (name: string, fields: object = {}) => call(callStep(name, fields), freeRun, free);
  const evidence = async ({ run_public_id, task_key }: TaskName): Promise<unknown> => {
    const { rows } = await one.db.pool.query<object>(
      `select capture_generation, capture_runner_id, capture_claimed_at, capture_checkpoint from tasks
       where run_id = $1 and task_key = $2`,
      [run_public_id, task_key],
    );
    return rows[0];
  };

  it('is a new generation at the same target, with a fresh clock and nothing of the last result', async () => {
    const door = restDoor(one, box);
    const task = await freeCall('read', { input: { a: 1 }, tool_call_id: 'c1' });
    const claim_token = await claimed(door, task);
    const commit = {
      ...nameOf(task),
      claim_token,
      outcome: 'failed',
      content: 'no',
      title: 't',
      metadata: { a: 1 },
    };
    expect((await door.ask('commit', commit)).status).toBe(200);
    const again = bodyOf(await ask('retry', task, free, { node: two }));
    const { started_at, deadline_at, approval } = again;
    expect(again).toEqual({ ...task, generation: 2, started_at, deadline_at, approval });
    expect(Date.parse(started_at as string)).toBeGreaterThan(Date.parse(task['started_at'] as string));
    expect(await inboxOf(box)).toContainEqual(expect.objectContaining({ ...nameOf(task), claimed: false }));
    const second = await claimed(door, task);
    expect((await door.ask('commit', { ...nameOf(task), claim_token: second, content: 'yes' })).status).toBe(
      200,
    );
    expect(await taskNow(two, free, task)).toMatchObject({
      status: 'completed',
      generation: 2,
      content: 'yes',
    });
  });

  it('makes every token of before stale', async () => {
    const door = restDoor(one, box);
    const task = await freeCall('bash');
    const claim_token = await claimed(door, task);
    await pastDeadline(one, task);
    expect(await taskNow(one, free, task, 10_000)).toMatchObject({ status: 'uncertain' });
    bodyOf(await ask('retry', task, free));
    const old = { ...nameOf(task), claim_token };
    const asked = async (verb: 'commit' | 'extend' | 'claim_status'): Promise<string> =>
      outcome({
        ...(await door.ask(verb, verb === 'extend' ? { ...old, timeout_ms: 1_000 } : old)),
        headers: {},
      });
    expect(await asked('commit')).toBe('409 task_not_running');
    expect(await asked('extend')).toBe('409 not_extendable');
    expect(await asked('claim_status')).toBe('409 not_claimant');
    await claimed(door, task);
    expect(await asked('commit')).toBe('409 stale_claim');
    expect(await asked('extend')).toBe('409 not_claimant');
    expect(await taskNow(one, free, task)).toMatchObject({ status: 'dispatched', generation: 2 });
  });

  it('keeps the capture of the first write, and its checkpoint', async () => {
    const door = restDoor(one, box);
    const task = await freeCall('bash');
    const commitAs = async (id: string, outcomeOf: string): Promise<void> => {
      const claim_token = await claimed(door, task);
      const metadata = { checkpoint: { id } };
      const body = { ...nameOf(task), claim_token, outcome: outcomeOf, metadata };
      expect((await door.ask('commit', body)).status).toBe(200);
    };
    await commitAs('first', 'failed');
    const before = await evidence(task);
    expect(before).toMatchObject({
      capture_generation: 1,
      capture_runner_id: box.id,
      capture_checkpoint: { id: 'first' },
    });
    bodyOf(await ask('retry', task, free));
    expect(await evidence(task)).toEqual(before);
    await commitAs('second', 'completed');
    expect(await evidence(task)).toEqual(before);
  });

  it('is only for what failed, timed out or is uncertain', async () => {
    const waiting = await freeCall('read');
    const resting = await rested();
    const done = await freeCall('read');
    const claim_token = await claimed(restDoor(one, box), done);
    expect((await restDoor(one, box).ask('commit', { ...nameOf(done), claim_token })).status).toBe(200);
    const canceled = await freeCall('read');
    bodyOf(await ask('cancel', canceled, free));
    for (const task of [waiting, resting, done, canceled]) {
      const before = await taskNow(one, steward, task);
      expect([before.status, outcome(await ask('retry', task, steward))]).toEqual([
        before.status,
        '409 not_retryable',
      ]);
      expect(await taskNow(one, steward, task)).toEqual(before);
    }
    const timedOut = await freeCall('read');
    await pastDeadline(one, timedOut);
    expect((await taskNow(one, free, timedOut, 10_000)).status).toBe('timed_out');
    expect(bodyOf(await ask('retry', timedOut, free))).toMatchObject({ status: 'dispatched', generation: 2 });
  });

  it('goes through the approval stage again: what was approved once rests again, what expired or was denied too', async () => {
    const approved = await rested();
    bodyOf(await ask('approve', approved, steward));
    const claim_token = await claimed(restDoor(one, runner), approved);
    const commit = { ...nameOf(approved), claim_token, outcome: 'failed' };
    expect((await restDoor(one, runner).ask('commit', commit)).status).toBe(200);
    const denied = await rested();
    bodyOf(await ask('deny', denied, steward));
    const expired = await rested();
    await pastDeadline(one, expired);
    await taskNow(one, agent, expired, 10_000);
    for (const task of [approved, denied, expired]) {
      const again = bodyOf(await ask('retry', task, agent));
      expect(again).toMatchObject({ status: 'needs_approval', generation: 2 });
      expect(again).not.toHaveProperty('approval');
      expect(outcome(await ask('approve', task, agent))).toBe('403 person_required');
      expect(bodyOf(await ask('approve', task, steward))).toMatchObject({
        status: 'dispatched',
        generation: 2,
      });
    }
  });

  it('is judged by what the target announces now', async () => {
    const { box: own, boxRun } = await ownRunner([tool('read')]);
    const task = await failed(boxRun, own);
    await announce(one, own, [tool('read', { effect_profile: WRITE })]);
    expect(bodyOf(await ask('retry', task, agent))).toMatchObject({
      status: 'needs_approval',
      effect_profile: WRITE,
    });
  });

  it('fails again where the target serves the tool no more or was revoked', async () => {
    const { box: own, boxRun } = await ownRunner();
    const task = await failed(boxRun, own);
    await announce(one, own, []);
    expect(bodyOf(await ask('retry', task, agent))).toMatchObject({
      status: 'failed',
      generation: 2,
      error: { key: 'tool_not_served' },
    });
    await announce(one, own, TOOLS);
    await administer('revoke', own);
    expect(bodyOf(await ask('retry', task, agent))).toMatchObject({
      status: 'failed',
      generation: 3,
      error: { key: 'executor_revoked' },
    });
  });

  it('many times at once begins one generation; with an Idempotency-Key it is answered many times', async () => {
    const plain = await failed(freeRun, box, free);
    const race = await Promise.all(
      Array.from({ length: 8 }, (_, index) => ask('retry', plain, free, { node: index % 2 ? one : two })),
    );
    expect(race.map(outcome).sort()).toEqual(['200', ...Array<string>(7).fill('409 not_retryable')]);
    const keyed = await failed(freeRun, box, free);
    const headers = { 'idempotency-key': newToken() };
    const repeats = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        ask('retry', keyed, free, { headers, node: index % 2 ? one : two }),
      ),
    );
    expect(new Set(repeats.map(({ text }) => text)).size).toBe(1);
    expect(repeats.map(bodyOf)[0]).toMatchObject({ generation: 2 });
    expect(repeats.filter((answer) => answer.headers['idempotency-replayed'] === 'true')).toHaveLength(7);
    expect(outcome(await ask('retry', plain, free, { headers }))).toBe('409 idempotency_conflict');
    expect(outcome(await ask('retry', keyed, free, { headers: { 'idempotency-key': '' } }))).toBe(
      '400 parameter_invalid',
    );
  });

  it('of a stopped run is run_stopped, of a pruned one execution_details_pruned', async () => {
    const { box: own, boxRun } = await ownRunner();
    const task = await failed(boxRun, own);
    ok(await one.http('POST', `/agent_api/v1/runs/${boxRun}/stop`, { token: agent.token }));
    expect(outcome(await ask('retry', task, agent))).toBe('409 run_stopped');
    await one.db.pool.query(
      `update runs set details_pruned_at = now(), declaration_digest = null where id = $1`,
      [boxRun],
    );
    await one.app.get(NodeEvents).announce('run', { id: boxRun });
    for (const verb of ['retry', 'approve', 'deny', 'cancel'] as const) {
      expect(outcome(await ask(verb, task, steward))).toBe('410 execution_details_pruned');
    }
  });

  it('waits for a prune of its run that is under way, and finds it pruned', async () => {
    const { box: own, boxRun } = await ownRunner();
    const task = await failed(boxRun, own);
    const [answer] = await whileLocked(
      'select from runs where id = $1 for update',
      [boxRun],
      [() => ask('retry', task, agent)],
      { last: 'update runs set details_pruned_at = now() where id = $1' },
    );
    expect(outcome(answer as HttpAnswer)).toBe('410 execution_details_pruned');
  });

  it('is for whoever sees the run, and nobody else', async () => {
    const task = await failed(freeRun, box, free);
    const other = await secondAccount(one);
    for (const stranger of [
      agent,
      await newHuman(one, account),
      await withToken(one, other, other.adminId),
    ]) {
      expect(outcome(await ask('retry', task, stranger))).toBe('404 not_found');
      expect(outcome(await ask('cancel', task, stranger))).toBe('404 not_found');
    }
    expect(bodyOf(await ask('retry', task, admin))).toMatchObject({ generation: 2 });
  });
});

describe('cancel', () => {
  it('settles a waiting and a resting call canceled', async () => {
    const { box, boxRun } = await ownRunner();
    const [waiting, resting] = [await call(callStep('read'), boxRun), await rested(boxRun)];
    for (const task of [waiting, resting]) {
      const canceled = bodyOf(await ask('cancel', task, agent, { node: two }));
      expect(canceled).toMatchObject({ status: 'canceled', settled_at: expect.any(String) });
      expect(canceled).not.toHaveProperty('error');
      expect(outcome(await ask('cancel', task, steward))).toBe('409 already_terminal');
    }
    expect(await inboxOf(box)).toEqual([]);
  });

  it('frees the claimant, whose commit is then answered with the canceled task', async () => {
    const { box, boxRun } = await ownRunner();
    const client = await onBus(box);
    const pushes = client.connection.subscribe(box.subjects.work);
    await client.connection.flush();
    const task = await call(callStep('read'), boxRun);
    const claim_token = await claimed(restDoor(one, box), task);
    const waiting = taskNow(two, agent, task, 10_000);
    bodyOf(await ask('cancel', task, agent));
    expect(await waiting).toMatchObject({ status: 'canceled' });
    for await (const message of pushes) {
      const push = message.json<{ event: string }>();
      if (push.event !== 'work_canceled') continue;
      expect(push).toEqual({ event: 'work_canceled', ...nameOf(task) });
      break;
    }
    await client.close();
    const late = await restDoor(one, box).ask('commit', { ...nameOf(task), claim_token, content: 'late' });
    expect([late.status, late.body.task.status]).toEqual([200, 'canceled']);
    expect(late.body.task).not.toHaveProperty('content');
  });

  it('against a commit or a decision at once: the task is settled once', async () => {
    const { box, boxRun } = await ownRunner();
    for (let round = 0; round < 8; round += 1) {
      const task = await call(callStep('read'), boxRun);
      const claim_token = await claimed(restDoor(one, box), task);
      const [cancel, commit] = await Promise.all([
        ask('cancel', task, agent, { node: two }),
        restDoor(one, box).ask('commit', { ...nameOf(task), claim_token, content: 'done' }),
      ]);
      const now = await taskNow(one, agent, task);
      expect(commit.body.task.status).toBe(now.status);
      expect([now.status, outcome(cancel)]).toEqual(
        now.status === 'canceled' ? ['canceled', '200'] : ['completed', '409 already_terminal'],
      );
      const resting = await rested(boxRun);
      const [canceled, denied] = await Promise.all([
        ask('cancel', resting, agent, { node: two }),
        ask('deny', resting, steward),
      ]);
      expect([
        ['200', '409 not_awaiting_approval'],
        ['409 already_terminal', '200'],
      ]).toContainEqual([outcome(canceled), outcome(denied)]);
    }
  });

  it('of all by stopping the run: what rests is canceled too, and no decision opens it', async () => {
    const { boxRun } = await ownRunner();
    const task = await rested(boxRun);
    ok(await one.http('POST', `/agent_api/v1/runs/${boxRun}/stop`, { token: agent.token }));
    expect((await taskNow(two, agent, task)).status).toBe('canceled');
    expect(outcome(await ask('approve', task, steward, { node: two }))).toBe('409 not_awaiting_approval');
    expect(outcome(await ask('retry', task, agent))).toBe('409 not_retryable');
  });
});

describe('Mode and rules', () => {
  const askAll = [{ tool: '*', verdict: 'ask' }];
  const denyBash = [{ tool: 'ba*|other', verdict: 'deny', reason: 'no shells' }];
  const allowBash = [{ tool: 'bash', verdict: 'allow' }];
  const byInput = [
    { tool: 'bash', path: 'command.name', match: 'rm *', verdict: 'deny' },
    { tool: 'bash', path: 'command.name', match: 'ls*', verdict: 'allow' },
  ];
  const byEffect = [{ tool: '*', effect: { destructive: true }, verdict: 'deny' }];

  it.each<[string, object[], object[], object, string, string]>([
    // mode, the steward's rules, the run's rules, input of bash → bash, read
    ['bypass', [], [], {}, 'dispatched mode', 'dispatched mode'],
    ['ask', [], [], {}, 'needs_approval', 'dispatched mode'],
    ['rules', [], [], {}, 'needs_approval', 'dispatched mode'],
    ['bypass', askAll, [], {}, 'needs_approval', 'needs_approval'],
    ['bypass', denyBash, [], {}, 'failed rule', 'dispatched mode'],
    ['ask', allowBash, [], {}, 'dispatched rule', 'dispatched mode'],
    ['rules', [], allowBash, {}, 'dispatched rule', 'dispatched mode'],
    ['ask', [], allowBash, {}, 'needs_approval', 'dispatched mode'],
    ['bypass', [], denyBash, {}, 'dispatched mode', 'dispatched mode'],
    ['rules', denyBash, allowBash, {}, 'failed rule', 'dispatched mode'],
    ['rules', allowBash, denyBash, {}, 'dispatched rule', 'dispatched mode'],
    ['rules', [], byInput, { command: { name: 'rm -rf' } }, 'failed rule', 'dispatched mode'],
    ['rules', [], byInput, { command: { name: 'ls -l' } }, 'dispatched rule', 'dispatched mode'],
    ['rules', [], byInput, { command: 'ls' }, 'needs_approval', 'dispatched mode'],
    ['bypass', byEffect, [], {}, 'failed rule', 'dispatched mode'],
  ])('%s, steward %j, run %j, input %j', async (mode, stewardRules, rules, input, bash, read) => {
    const ward = await newAgent(one, account, {
      steward_public_id: steward.id,
      approval_floor: 'bypass',
      approval_rules: stewardRules,
    });
    const wardRun = await newRun(one, ward, runner, { approval_mode: mode, approval_rules: rules });
    const answer = await accept(one, ward, wardRun, [
      callStep('bash', { input }),
      callStep('read', { input }),
    ]);
    const { tasks } = ok(answer).body as { tasks: TaskBody[] };
    const shown = tasks.map(({ status, approval }) =>
      [status, (approval as { origin: string } | undefined)?.origin ?? []].flat().join(' '),
    );
    expect(shown).toEqual([bash, read]);
  });
});

describe('An operator capability', () => {
  const HIDDEN = { name: 'files_bytes', effect_profile: WRITE };
  let box: TestExecutor;
  let free: TestMember;

  beforeAll(async () => {
    box = await newRunner(one, account);
    free = await newAgent(one, account, { steward_public_id: steward.id, approval_floor: 'bypass' });
  });

  it('is called by a person as a one-step run with a runner route, and granted', async () => {
    await announce(one, box, [HIDDEN]);
    const answer = ok(
      await one.http('POST', '/agent_api/v1/runs', {
        token: steward.token,
        body: { approval_mode: 'ask', steps: [toolStep('files_bytes', box, { key: 'bytes' })] },
      }),
    );
    const { run: made } = answer.body as { run: { public_id: string } };
    const task = { run_public_id: made.public_id, task_key: 'bytes' };
    expect(await taskNow(one, steward, task)).toMatchObject({
      status: 'dispatched',
      approval: { origin: 'human', decided_by: steward.id },
    });
    await claimed(restDoor(one, box), task);
  });

  it('is denied to a person too where rules deny it', async () => {
    await announce(one, box, [HIDDEN]);
    const ownRun = await newRun(one, steward, null, {
      approval_mode: 'rules',
      approval_rules: [{ tool: 'files_*', verdict: 'deny' }],
    });
    expect(await call(toolStep('files_bytes', box), ownRun, steward)).toMatchObject({
      status: 'failed',
      error: { key: 'approval_denied' },
      approval: { origin: 'rule' },
    });
  });

  it('is never reached by a model, on any path', async () => {
    const tools = [tool('files_bytes', { effect_profile: WRITE })];
    await announce(one, box, tools);
    const application = await newExecutor(one, account, {
      kind: 'agent_application',
      display_name: 'Application',
      agent_public_id: free.id,
      assignment_scope: 'user_private',
    });
    await announce(one, application, [tool('publish')]);
    const definition = (name: string, route?: object): object => ({
      type: 'function',
      function: { name, parameters: { type: 'object' } },
      ...(route ? { route } : {}),
    });
    const route = { kind: 'runner', runner_executor_public_id: box.id, tool_name: 'files_bytes' };
    const configuration = {
      runner_executor_public_ids: [box.id],
      kernel_tools: ['nexus.tools.call'],
      tool_definitions: [definition('bytes', route), definition('publish')],
    };
    const freeRun = await newRun(one, free, box, { configuration });
    const child = await newRun(one, free, box, { configuration: undefined, parent_run_public_id: freeRun });
    const before = [
      await failed(freeRun, box, free, 'bytes'),
      await call(callStep('bytes'), freeRun, free),
    ] as const;
    // what was a tool for models is one for people now
    await announce(one, box, [HIDDEN]);
    await announce(one, application, [{ name: 'publish', effect_profile: WRITE }]);
    const steps: [string, object][] = [
      [freeRun, callStep('bytes')],
      [freeRun, callStep('files_bytes')],
      [freeRun, callStep('publish')],
      [freeRun, callStep('tool_call', { input: { name: 'bytes', input: {} } })],
      [freeRun, callStep('tool_call', { input: { name: 'publish', input: {} } })],
      [freeRun, toolStep('publish')],
      [freeRun, toolStep('files_bytes', box)],
      [freeRun, toolStep('files_bytes', undefined, { route: { kind: 'runner' } })],
      [child, callStep('bytes')],
      [child, toolStep('files_bytes', box)],
    ];
    for (const [onRun, step] of steps) {
      expect([step, outcome(await accept(one, free, onRun, [step]))]).toEqual([step, '403 person_required']);
    }
    const bus = await onBus(free);
    for (const [run_public_id, step] of [...steps, [undefined, toolStep('files_bytes', box)] as const]) {
      const answer = await bus.ask('call', { run_public_id, step });
      expect([step, answer.status, answer.code]).toEqual([step, 403, 'person_required']);
    }
    await bus.close();
    expect(outcome(await ask('retry', before[0], free))).toBe('403 person_required');
    expect(await taskNow(one, free, before[0])).toMatchObject({ status: 'failed', generation: 1 });
    expect(bodyOf(await ask('retry', before[0], steward))).toMatchObject({
      status: 'dispatched',
      generation: 2,
      approval: { origin: 'human', decided_by: steward.id },
    });
    // its declaration has it no more
    const fresh = await newRun(one, free, box);
    expect(outcome(await accept(one, free, fresh, [callStep('files_bytes')]))).toBe('422 tool_not_declared');
    const { rows } = await one.db.pool.query(
      `select from tasks where run_id = any ($1::uuid[]) and status = 'dispatched' and tool_name = 'publish'`,
      [[freeRun, child, fresh]],
    );
    expect(rows).toEqual([]);
  });

  it('is not reached by an agent’s call that was accepted while models saw the tool; the claim settles it', async () => {
    await announce(one, box, [tool('files_bytes', { effect_profile: WRITE })]);
    const ofAgent = await newRun(one, free, box);
    const task = await call(callStep('files_bytes'), ofAgent, free);
    const byPerson = await call(toolStep('files_bytes', box), ofAgent, steward);
    await announce(two, box, [HIDDEN]);
    const claim = (door: Door, { run_public_id, task_key }: TaskName) =>
      door.ask('claim', { run_public_id, task_key });
    for (const door of [restDoor(one, box), restDoor(two, box)]) {
      expect(codeOf(await claim(door, task))).toBe('409 tool_not_served');
    }
    expect(await taskNow(one, free, task)).toMatchObject({
      status: 'failed',
      error: { key: 'tool_not_served', detail: 'only people call this tool now' },
    });
    expect(await effectsOf(ofAgent)).toEqual([]);
    // a person called: it is theirs to reach, on the agent's run too
    await claimed(restDoor(one, box), byPerson);
    // and who retries calls
    expect(outcome(await ask('retry', task, free))).toBe('403 person_required');
    expect(bodyOf(await ask('retry', task, steward))).toMatchObject({ status: 'dispatched', generation: 2 });
    await claimed(restDoor(one, box), task);
  });

  it('is not reached through a provider that joins the pool behind the call, which stays with the others', async () => {
    const name = 'pooled_bytes';
    const providers: TestExecutor[] = [];
    for (const registration_identifier of ['shows', 'hides']) {
      const provider = {
        kind: 'tool_provider',
        display_name: registration_identifier,
        registration_identifier,
      };
      const owned = { manager_public_id: account.adminId, assignment_scope: 'account_wide' };
      providers.push(await newExecutor(one, account, { ...provider, ...owned }));
    }
    const [shows, hides] = providers as [TestExecutor, TestExecutor];
    await announce(one, shows, [tool(name)]);
    const ofAgent = await newRun(one, free, null);
    const task = await call(toolStep(name), ofAgent, free);
    await announce(one, hides, [{ name, effect_profile: READ_ONLY }]);
    const byPerson = await call(toolStep(name), ofAgent, steward);
    expect((await inboxOf(hides)).map(({ task_key }) => task_key)).toEqual([byPerson.task_key]);
    expect(codeOf(await restDoor(two, hides).ask('claim', nameOf(task)))).toBe('409 not_addressed_here');
    await claimed(restDoor(two, hides), nameOf(byPerson));
    await claimed(restDoor(one, shows), nameOf(task));
  });
});

/** The captures of a run. */
async function effectsOf(runId: string): Promise<unknown[]> {
  const { rows } = await one.db.pool.query<{ task_key: string }>(
    `select task_key from tasks where run_id = $1 and capture_claimed_at is not null`,
    [runId],
  );
  return rows;
}
