import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RevocationHooks } from '../../src/identity/revocation-hooks.js';
import {
  announce,
  executorOf,
  firstAccount,
  newAgent,
  newHuman,
  newRunner,
  onBus,
  type TestAccount,
  type TestExecutor,
  type TestMember,
  tool,
  withToken,
} from '../support/factories.js';
import { type HttpAnswer, TestNode } from '../support/node.js';
import { anotherAccount } from './two-accounts.js';

const UNKNOWN = '01990000-0000-7000-8000-000000000000';

let node: TestNode;
let other: TestNode;
let account: TestAccount;
let stranger: TestAccount;

beforeAll(async () => {
  node = await TestNode.start();
  other = await TestNode.start({}, node);
  account = await firstAccount(node);
  stranger = await anotherAccount(node);
});

afterAll(async () => {
  await other.close();
  await node.close();
});

let counter = 0;

/** The body of a runner's registration with a key of its own. */
const runnerBody = (fields: object = {}): Record<string, unknown> => ({
  kind: 'runner',
  display_name: 'Build box',
  manager_public_id: account.adminId,
  registration_identifier: `key-${(counter += 1)}`,
  assignment_scope: 'account_wide',
  ...fields,
});

const register = (body: object, { at = node, who = account, headers = {} } = {}): Promise<HttpAnswer> =>
  at.http('POST', '/platform_api/v1/executors', { token: who.platformToken, body, headers });

const move = (id: string, verb: string, { at = node, who = account } = {}): Promise<HttpAnswer> =>
  at.http('POST', `/platform_api/v1/executors/${id}/${verb}`, { token: who.platformToken });

const describeOf = (token: string, at = node): Promise<HttpAnswer> =>
  at.http('GET', '/agent_api/v1/executor', { token });

/** The code and message of a refusal, with its status before them. */
const refusalOf = ({ status, body }: HttpAnswer): string =>
  `${status} ${body?.error?.code}: ${body?.error?.message}`;

type Row = Record<string, unknown> & { public_id: string };

async function listed(id: string): Promise<Row> {
  const { body } = await node.http('GET', '/platform_api/v1/executors?limit=200', {
    token: account.platformToken,
  });
  return (body.executors as Row[]).find((row) => row.public_id === id) as Row;
}

describe('A registration', () => {
  it('answers the executor, its whole secret and how it speaks on the bus', async () => {
    const { status, body } = await register(runnerBody({ registration_identifier: 'My first box' }));
    expect(status).toBe(201);
    const id = body.executor.public_id;
    const prefix = node.env.NEXUS_BUS_PREFIX;
    expect(body).toEqual({
      executor: {
        public_id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/),
        kind: 'runner',
        display_name: 'Build box',
        status: 'active',
        assignment_scope: 'account_wide',
        credential_epoch: 1,
        modules: ['tools'],
        machine: 'my-first-box',
        service_ids: 'pinned',
        shutdown_requested_at: null,
        presence: 'not_yet_seen',
        last_seen_at: null,
        connected_at: null,
      },
      secret: expect.stringMatching(/^nxe_[0-9a-f-]{36}_[\w-]{43}$/),
      bus: {
        servers: [node.env.NATS_URL],
        credentials: expect.stringContaining('BEGIN NATS USER JWT'),
        subjects: {
          executor: `${prefix}.executor.${id}.1`,
          work: `${prefix}.work.${id}.1`,
          tool: `${prefix}.tool.${id}.1`,
          inbox_prefix: `_INBOX.${id}-1`,
        },
      },
    });
    expect(await listed(id)).toEqual(body.executor);
    expect((await describeOf(body.secret)).body.executor.public_id).toBe(id);
    expect(await listed(id)).toMatchObject({ presence: 'online' });
  });

  it('takes an administrator’s modules, machine and service ids', async () => {
    const named = { modules: ['tools', 'git'], machine: 'rack_7', service_ids: 'any' };
    expect((await register(runnerBody(named))).body.executor).toMatchObject(named);
  });

  it('of a tool_provider is as that of a runner', async () => {
    const { status, body } = await register(runnerBody({ kind: 'tool_provider' }));
    expect([status, body.executor.kind]).toEqual([201, 'tool_provider']);
  });

  it('of an agent application is for its agent: one live one for each', async () => {
    const agent = await newAgent(node, account);
    const body = { kind: 'agent_application', display_name: 'App', agent_public_id: agent.id };
    const first = await register(body);
    expect(first.status).toBe(201);
    expect(first.body.executor).toMatchObject({ kind: 'agent_application', machine: 'app' });
    const again = await register({ ...body, registration_identifier: 'x', assignment_scope: 'account_wide' });
    expect(again.status).toBe(200);
    expect(again.body.executor).toMatchObject({
      public_id: first.body.executor.public_id,
      assignment_scope: 'user_private',
      credential_epoch: 2,
    });
  });

  it.each([
    ['400 parameter_missing: kind is required', { kind: undefined }],
    ['422 validation_failed: kind must be one of', { kind: 'robot' }],
    ['400 parameter_missing: display_name is required', { display_name: undefined }],
    ['422 validation_failed: display_name must', { display_name: '' }],
    ['400 parameter_missing: manager_public_id is required', { manager_public_id: undefined }],
    ['422 validation_failed: manager_public_id must', { manager_public_id: 'x' }],
    ['422 validation_failed: manager_public_id names no human', { manager_public_id: UNKNOWN }],
    ['400 parameter_missing: registration_identifier', { registration_identifier: undefined }],
    ['400 parameter_missing: registration_identifier', { registration_identifier: null }],
    ['422 validation_failed: registration_identifier', { registration_identifier: 'a\n' }],
    ['400 parameter_missing: assignment_scope', { assignment_scope: undefined }],
    ['422 validation_failed: assignment_scope must be one of', { assignment_scope: 'everyone' }],
    ['422 validation_failed: service_ids must be one of', { service_ids: 'none' }],
    ['400 parameter_missing: agent_public_id is required', { kind: 'agent_application' }],
    [
      '422 validation_failed: agent_public_id names no agent',
      { kind: 'agent_application', agent_public_id: UNKNOWN },
    ],
  ])('is refused with %s', async (refusal, fields) => {
    expect(refusalOf(await register(runnerBody(fields)))).toMatch(new RegExp(`^${refusal}`));
  });

  it.each([
    ['modules must be a list of 1 to 64 names', { modules: [] }],
    ['modules must be a list of 1 to 64 names', { modules: 'tools' }],
    ['modules must be a list of 1 to 64 names', { modules: Array.from({ length: 65 }, (_, at) => `m${at}`) }],
    ['modules[1] must match ^[A-Za-z0-9_-]{1,64}$', { modules: ['a', 'b.c'] }],
    ['modules[0] must match ^[A-Za-z0-9_-]{1,64}$', { modules: [7] }],
    ['modules[2] repeats a', { modules: ['a', 'b', 'a'] }],
    ['modules[0] must not begin with nexus-', { modules: ['nexus-executor'] }],
    ['machine must match ^[A-Za-z0-9_-]{1,64}$', { machine: 'a b' }],
    ['machine must match ^[A-Za-z0-9_-]{1,64}$', { machine: 'a'.repeat(65) }],
    ['machine must not begin with nexus-', { machine: 'nexus-1' }],
  ])('keeps the grammar of names: %s', async (message, fields) => {
    expect(refusalOf(await register(runnerBody(fields)))).toBe(`422 validation_failed: ${message}`);
  });

  it('wants people and agents of its own account, and one answer hides whose the others are', async () => {
    const agent = await newAgent(node, account);
    const managers = [stranger.adminId, agent.id, UNKNOWN].map((manager_public_id) =>
      register(runnerBody({ manager_public_id })),
    );
    const foreign = await newAgent(node, stranger);
    const agents = [foreign.id, account.adminId, UNKNOWN].map((agent_public_id) =>
      register({ kind: 'agent_application', display_name: 'App', agent_public_id }),
    );
    for (const refusals of await Promise.all([Promise.all(managers), Promise.all(agents)])) {
      expect(new Set(refusals.map(refusalOf)).size).toBe(1);
      expect(refusals[0]?.status).toBe(422);
    }
  });

  it('under the same key of two managers, or of two accounts, is two executors', async () => {
    const human = await newHuman(node, account);
    const key = { registration_identifier: 'shared' };
    const answers = [
      await register(runnerBody(key)),
      await register(runnerBody({ ...key, manager_public_id: human.id })),
      await register(runnerBody({ ...key, manager_public_id: stranger.adminId }), { who: stranger }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
    expect(answers.map(({ body }) => body.executor.machine)).toEqual(['shared', 'shared-2', 'shared']);
  });
});

describe('A machine', () => {
  it('that nobody named is a slug of the identifier, with a suffix where it is taken', async () => {
    const other = await newHuman(node, account);
    const named = 'Ünï box!';
    const machines: string[] = [];
    for (const manager_public_id of [account.adminId, other.id, (await newHuman(node, account)).id]) {
      const body = runnerBody({ registration_identifier: named, manager_public_id });
      machines.push((await register(body)).body.executor.machine);
    }
    expect(machines).toEqual(['uni-box', 'uni-box-2', 'uni-box-3']);
  });

  it('keeps its 64 characters with the suffix, and is free again for another module', async () => {
    const long = 'l'.repeat(90);
    const human = await newHuman(node, account);
    const first = await register(runnerBody({ registration_identifier: long }));
    const second = await register(runnerBody({ registration_identifier: long, manager_public_id: human.id }));
    const third = await register(runnerBody({ registration_identifier: `${long}x`, modules: ['elsewhere'] }));
    expect([first, second, third].map(({ body }) => body.executor.machine)).toEqual([
      'l'.repeat(64),
      `${'l'.repeat(62)}-2`,
      'l'.repeat(64),
    ]);
  });

  it('never begins with a reserved name by default', async () => {
    const { body } = await register(runnerBody({ registration_identifier: 'nexus-box' }));
    expect(body.executor.machine).toBe('machine-nexus-box');
  });

  it('and a module, live, are one executor’s in the account', async () => {
    const pair = { machine: 'pair', modules: ['alpha', 'beta'] };
    const first = await register(runnerBody(pair));
    expect(first.status).toBe(201);
    const taken = await register(runnerBody({ machine: 'pair', modules: ['gamma', 'beta'] }));
    expect(refusalOf(taken)).toBe('409 assignment_taken: machine pair has another executor for module beta');
    expect((await register(runnerBody({ machine: 'pair', modules: ['gamma'] }))).status).toBe(201);
    const elsewhere = runnerBody({ ...pair, manager_public_id: stranger.adminId });
    expect((await register(elsewhere, { who: stranger })).status).toBe(201);
    await move(first.body.executor.public_id, 'revoke');
    expect((await register(runnerBody(pair))).status).toBe(201);
  });

  it('is given once to registrations that race for it', async () => {
    const answers = await Promise.all(
      [node, other, node, other, node, other].map((at) =>
        register(runnerBody({ machine: 'raced', modules: ['m1', 'm2'] }), { at }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409]);
    const humans = await Promise.all(Array.from({ length: 6 }, () => newHuman(node, account)));
    const defaults = await Promise.all(
      humans.map(({ id }, at) =>
        register(runnerBody({ registration_identifier: 'crowd', manager_public_id: id }), {
          at: at % 2 ? node : other,
        }),
      ),
    );
    expect(defaults.map(({ body }) => body.executor.machine).sort()).toEqual(
      ['crowd', 'crowd-2', 'crowd-3', 'crowd-4', 'crowd-5', 'crowd-6'].sort(),
    );
  });
});

describe('A re-pair', () => {
  it('keeps the executor, raises the epoch and answers a new secret; kind and scope are frozen', async () => {
    const body = runnerBody({ machine: 'kept', modules: ['kept'], service_ids: 'any' });
    const first = await register(body);
    const { registration_identifier } = body;
    const again = await register(
      runnerBody({
        registration_identifier,
        assignment_scope: 'user_private',
        display_name: 'New name',
      }),
    );
    expect(again.status).toBe(200);
    expect(again.body.executor).toEqual({
      ...first.body.executor,
      display_name: 'New name',
      credential_epoch: 2,
    });
    expect(again.body.secret).not.toBe(first.body.secret);
    expect(again.body.bus.subjects.executor).toMatch(/\.2$/);
    expect((await describeOf(again.body.secret)).body.executor.credential_epoch).toBe(2);
  });

  it('moves the executor where modules or a machine are named, and frees what it held', async () => {
    const body = runnerBody({ machine: 'old-place', modules: ['one'] });
    await register(body);
    const moved = await register({ ...body, machine: 'new-place', modules: ['one', 'two'] });
    expect(moved.body.executor).toMatchObject({ machine: 'new-place', modules: ['one', 'two'] });
    expect((await register(runnerBody({ machine: 'old-place', modules: ['one'] }))).status).toBe(201);
    const back = await register({ ...body, machine: 'old-place' });
    expect(refusalOf(back)).toMatch(/^409 assignment_taken/);
    expect(await listed(moved.body.executor.public_id)).toMatchObject({
      machine: 'new-place',
      credential_epoch: 2,
    });
  });

  it.each([
    ['tool_provider', 'runner'],
    ['runner', 'tool_provider'],
  ])('naming %s where the key is a %s is kind_mismatch', async (kind, was) => {
    const body = runnerBody({ kind: was });
    const first = await register(body);
    expect(refusalOf(await register({ ...body, kind }))).toMatch(/^409 kind_mismatch: kind was /);
    expect((await describeOf(first.body.secret)).status).toBe(200);
  });

  it('keeps the announcement', async () => {
    const body = runnerBody();
    const first = executorOf(await register(body));
    await announce(node, first, [tool('kept')]);
    await register(body);
    const human = await newHuman(node, account);
    const { body: found } = await node.http('GET', `/agent_api/v1/executors/${first.id}`, {
      token: human.token,
    });
    expect(found.executor.served_tools.map(({ name }: { name: string }) => name)).toEqual(['kept']);
  });

  it('fences every older secret at once, on two nodes and on the bus', async () => {
    const body = runnerBody();
    const first = executorOf(await register(body));
    const bus = await onBus(first);
    try {
      expect([(await describeOf(first.token, other)).status, (await bus.ask('describe')).status]).toEqual([
        200, 200,
      ]);
      const second = executorOf(await register(body));
      const answers = await Promise.all([node, other].map((at) => describeOf(first.token, at)));
      expect(answers.map(({ status }) => status)).toEqual([401, 401]);
      await bus.isCutOff();
      const successor = await onBus(second);
      expect((await successor.ask('describe')).status).toBe(200);
      await successor.close();
    } finally {
      await bus.close();
    }
  });

  it('while the old secret is in use lets nothing in that begins after its answer', async () => {
    const body = runnerBody();
    const first = executorOf(await register(body));
    let repaired = false;
    const late: number[] = [];
    const use = async (at: TestNode): Promise<void> => {
      for (let lateHere = 0; lateHere < 20;) {
        const begunLate = repaired;
        const { status } = await describeOf(first.token, at);
        if (!begunLate) continue;
        lateHere += 1;
        late.push(status);
      }
    };
    const using = Promise.all([node, other, node, other].map(use));
    const second = executorOf(await register(body, { at: other }));
    repaired = true;
    await using;
    expect(late).toHaveLength(80);
    expect(new Set(late)).toEqual(new Set([401]));
    for (const at of [node, other]) expect((await describeOf(second.token, at)).status).toBe(200);
  });

  it('by N at once, over two nodes, is one executor, N epochs and one live secret', async () => {
    const body = runnerBody();
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, at) => register(body, { at: at % 2 ? node : other })),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(11);
    expect(new Set(answers.map((answer) => answer.body.executor.public_id)).size).toBe(1);
    const epochs = answers.map((answer) => answer.body.executor.credential_epoch as number);
    expect([...epochs].sort((a, b) => a - b)).toEqual(Array.from({ length: 12 }, (_, at) => at + 1));
    const alive = await Promise.all(answers.map((answer) => describeOf(answer.body.secret)));
    const live = alive.flatMap(({ status }, at) => (status === 200 ? [epochs[at]] : []));
    expect(live).toEqual([12]);
  });

  it('repeated with its Idempotency-Key answers the first answer instead, also in parallel', async () => {
    const body = runnerBody();
    const headers = { 'Idempotency-Key': 'pair-once' };
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, at) => register(body, { at: at % 2 ? node : other, headers })),
    );
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(201));
    const [first] = answers;
    expect((await describeOf(first?.body.secret)).body.executor.credential_epoch).toBe(1);
    expect(refusalOf(await register({ ...body, display_name: 'x' }, { headers }))).toMatch(
      /^409 idempotency_conflict/,
    );
  });

  it('that is refused leaves its Idempotency-Key free', async () => {
    const headers = { 'Idempotency-Key': 'second-try' };
    await register(runnerBody({ machine: 'busy', modules: ['busy'] }));
    const body = runnerBody({ machine: 'busy', modules: ['busy'] });
    expect((await register(body, { headers })).status).toBe(409);
    expect((await register({ ...body, machine: 'idle' }, { headers })).status).toBe(201);
  });
});

describe('Revoking an executor', () => {
  it('ends it for ever: every secret is refused on two nodes and on the bus', async () => {
    const runner = await newRunner(node, account);
    const bus = await onBus(runner);
    try {
      expect((await bus.ask('describe')).status).toBe(200);
      expect((await describeOf(runner.token, other)).status).toBe(200);
      const revoked = await move(runner.id, 'revoke');
      expect(revoked.status).toBe(200);
      expect(revoked.body.executor).toMatchObject({ public_id: runner.id, status: 'revoked' });
      const answers = await Promise.all([node, other].map((at) => describeOf(runner.token, at)));
      expect(answers.map(({ status }) => status)).toEqual([401, 401]);
      await bus.isCutOff();
    } finally {
      await bus.close();
    }
    const human = await newHuman(node, account);
    const discovered = await node.http('GET', `/agent_api/v1/executors/${runner.id}`, { token: human.token });
    expect(discovered.status).toBe(404);
  });

  it('again answers it unchanged; it can be neither shut down nor resumed', async () => {
    const runner = await newRunner(node, account);
    const first = await move(runner.id, 'revoke');
    expect((await move(runner.id, 'revoke')).body).toEqual(first.body);
    for (const verb of ['shutdown', 'resume']) {
      expect(refusalOf(await move(runner.id, verb))).toMatch(/^409 executor_revoked/);
    }
  });

  it('frees its key, which is then registered anew under a new public id, of any kind', async () => {
    const body = runnerBody();
    const first = executorOf(await register(body));
    await move(first.id, 'revoke');
    const anew = await register({ ...body, kind: 'tool_provider' });
    expect(anew.status).toBe(201);
    expect(anew.body.executor).toMatchObject({ credential_epoch: 1, kind: 'tool_provider' });
    expect(anew.body.executor.public_id).not.toBe(first.id);
  });

  it('settles what it holds in the same transaction, and tells of it afterwards', async () => {
    const runner = await newRunner(node, account);
    const human = await newHuman(node, account);
    const seen: [string, unknown][] = [];
    const statusOf = async (): Promise<unknown> =>
      (await node.db.pool.query(`select status from executors where id = $1`, [runner.id])).rows[0].status;
    node.app.get(RevocationHooks).add(async (sql, executorId) => {
      if (executorId !== runner.id) return () => undefined;
      await sql.rows(
        { name: 'test_hook', text: `update members set display_name = 'settled' where id = $1` },
        human.id,
      );
      seen.push(['within', await statusOf()]);
      return async () => {
        seen.push(['after', await statusOf()]);
      };
    });
    await move(runner.id, 'revoke');
    expect(seen).toEqual([
      ['within', 'active'],
      ['after', 'revoked'],
    ]);
    await move(runner.id, 'revoke');
    expect(seen).toHaveLength(2);
  });

  it('that fails to settle revokes nothing', async () => {
    const runner = await newRunner(node, account);
    let failing = true;
    node.app.get(RevocationHooks).add((_, executorId) => {
      if (failing && executorId === runner.id) throw new Error('the settling failed');
      return Promise.resolve(() => undefined);
    });
    expect((await move(runner.id, 'revoke')).status).toBe(500);
    expect((await describeOf(runner.token)).status).toBe(200);
    failing = false;
    expect((await move(runner.id, 'revoke')).status).toBe(200);
  });

  it('races a re-pair without leaving a live secret of a revoked executor', async () => {
    const body = runnerBody();
    const first = executorOf(await register(body));
    const [, ...answers] = await Promise.all([
      move(first.id, 'revoke', { at: other }),
      ...[1, 2, 3, 4].map(() => register(body)),
    ]);
    for (const { body: answer } of answers) {
      if (answer.executor.public_id === first.id) {
        expect((await describeOf(answer.secret)).status).toBe(401);
      }
    }
    const live = await Promise.all(answers.map((answer) => describeOf(answer.body.secret)));
    expect(live.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1);
    const { rows } = await node.db.pool.query(
      `select count(*)::int as live from executors where registration_identifier = $1 and status = 'active'`,
      [body['registration_identifier']],
    );
    expect(rows[0].live).toBeLessThanOrEqual(1);
  });
});

describe('Shutting an executor down', () => {
  it('closes admission at once, keeps its secret, and resuming opens it again', async () => {
    const runner = await newRunner(node, account);
    const human = await newHuman(node, account);
    const discovered = async (): Promise<number> =>
      (await other.http('GET', `/agent_api/v1/executors/${runner.id}`, { token: human.token })).status;
    expect(await discovered()).toBe(200);
    const shut = await move(runner.id, 'shutdown');
    expect(shut.status).toBe(200);
    expect(shut.body.executor).toMatchObject({
      status: 'active',
      shutdown_requested_at: expect.stringMatching(/Z$/),
    });
    expect(await discovered()).toBe(404);
    expect((await describeOf(runner.token)).status).toBe(200);
    const again = await move(runner.id, 'shutdown');
    expect(again.body.executor.shutdown_requested_at).toBe(shut.body.executor.shutdown_requested_at);
    const resumed = await move(runner.id, 'resume');
    expect(resumed.body.executor.shutdown_requested_at).toBeNull();
    expect((await move(runner.id, 'resume')).status).toBe(200);
    expect(await discovered()).toBe(200);
  });

  it('outlasts a re-pair', async () => {
    const body = runnerBody();
    const { id } = executorOf(await register(body));
    await move(id, 'shutdown');
    expect((await register(body)).body.executor.shutdown_requested_at).not.toBeNull();
  });
});

describe('Two accounts', () => {
  it('find none of each other’s executors, with any verb', async () => {
    const runner = await newRunner(node, account);
    for (const verb of ['revoke', 'shutdown', 'resume']) {
      const foreign = await move(runner.id, verb, { who: stranger });
      const unknown = await move(UNKNOWN, verb, { who: stranger });
      expect([foreign.status, foreign.text]).toEqual([404, unknown.text]);
      expect((await move('x', verb)).status).toBe(404);
    }
    expect((await describeOf(runner.token)).status).toBe(200);
    const human = await newHuman(node, stranger);
    const seen = await node.http('GET', `/agent_api/v1/executors/${runner.id}`, { token: human.token });
    expect(seen.status).toBe(404);
  });
});

describe('Humans’ own registrations', () => {
  const path = '/agent_api/v1/executors/registrations';
  let human: TestMember;

  beforeAll(async () => {
    human = await newHuman(node, account);
  });

  const own = (fields: object = {}): Record<string, unknown> => {
    const { manager_public_id: _, ...body } = runnerBody({ assignment_scope: 'user_private', ...fields });
    return body;
  };
  const registerOwn = (body: object, who = human, headers = {}): Promise<HttpAnswer> =>
    node.http('POST', path, { token: who.token, body, headers });
  const moveOwn = (id: string, verb: string, who = human): Promise<HttpAnswer> =>
    node.http('POST', `${path}/${id}/${verb}`, { token: who.token });
  const listOwn = async (who = human): Promise<string[]> => {
    const { body } = await node.http('GET', `${path}?limit=200`, { token: who.token });
    return body.executors.map((row: { public_id: string }) => row.public_id);
  };

  it('are user_private runners that they manage, with the same answer and re-pair', async () => {
    const body = own({ machine: 'desk' });
    const first = await registerOwn(body);
    expect(first.status).toBe(201);
    expect(first.body.executor).toMatchObject({
      kind: 'runner',
      assignment_scope: 'user_private',
      modules: ['tools'],
      machine: 'desk',
      service_ids: 'pinned',
    });
    const again = await registerOwn({ ...body, manager_public_id: human.id, service_ids: 'pinned' });
    expect([again.status, again.body.executor.credential_epoch]).toEqual([200, 2]);
    expect((await describeOf(first.body.secret)).status).toBe(401);
    expect((await describeOf(again.body.secret)).status).toBe(200);
    expect(await listOwn()).toContain(first.body.executor.public_id);
    const { manager_id } = (
      await node.db.pool.query(`select manager_id from executors where id = $1`, [
        first.body.executor.public_id,
      ])
    ).rows[0];
    expect(manager_id).toBe(human.id);
  });

  it('need no assignment_scope: there is one they may name', async () => {
    const { status, body } = await registerOwn(own({ assignment_scope: undefined }));
    expect([status, body.executor.assignment_scope]).toEqual([201, 'user_private']);
  });

  it.each([
    ['account_wide scope', { assignment_scope: 'account_wide' }],
    ['modules', { modules: ['tools'] }],
    ['a tool_provider', { kind: 'tool_provider' }],
    ['an agent_application', { kind: 'agent_application' }],
    ['service_ids any', { service_ids: 'any' }],
    ['another manager', { manager_public_id: UNKNOWN }],
  ])('never name %s: that is for administrators', async (_, fields) => {
    expect(refusalOf(await registerOwn({ ...own(), ...fields }))).toMatch(/^403 admin_required/);
    const admin = await withToken(node, account, account.adminId);
    expect(refusalOf(await registerOwn({ ...own(), ...fields }, admin))).toMatch(/^403 admin_required/);
  });

  it.each([
    ['400 parameter_missing: kind', { kind: undefined }],
    ['400 parameter_missing: registration_identifier', { registration_identifier: undefined }],
    ['422 validation_failed: machine must not', { machine: 'nexus-x' }],
  ])('are refused with %s', async (refusal, fields) => {
    expect(refusalOf(await registerOwn(own(fields)))).toMatch(new RegExp(`^${refusal}`));
  });

  it('never re-pair what an administrator registered account-wide or as another kind for them', async () => {
    const wide = runnerBody({ manager_public_id: human.id });
    const first = await register(wide);
    const { registration_identifier } = wide;
    expect(refusalOf(await registerOwn(own({ registration_identifier })))).toMatch(/^403 admin_required/);
    const pool = runnerBody({ manager_public_id: human.id, kind: 'tool_provider' });
    await register(pool);
    const { registration_identifier: poolKey } = pool;
    expect(refusalOf(await registerOwn(own({ registration_identifier: poolKey })))).toMatch(
      /^409 kind_mismatch/,
    );
    expect((await describeOf(first.body.secret)).status).toBe(200);
    expect(await listOwn()).not.toContain(first.body.executor.public_id);
    for (const verb of ['revoke', 'shutdown', 'resume']) {
      expect((await moveOwn(first.body.executor.public_id, verb)).status).toBe(404);
    }
  });

  it('re-pair a private runner that an administrator registered for them, and keep its modules', async () => {
    const body = runnerBody({
      manager_public_id: human.id,
      assignment_scope: 'user_private',
      modules: ['named'],
    });
    await register(body);
    const { registration_identifier } = body;
    const again = await registerOwn(own({ registration_identifier }));
    expect([again.status, again.body.executor.modules]).toEqual([200, ['named']]);
  });

  it('are shut down, resumed and revoked by their manager', async () => {
    const { id } = executorOf(await registerOwn(own()));
    expect((await moveOwn(id, 'shutdown')).body.executor.shutdown_requested_at).not.toBeNull();
    expect((await moveOwn(id, 'resume')).body.executor.shutdown_requested_at).toBeNull();
    expect((await moveOwn(id, 'revoke')).body.executor.status).toBe('revoked');
    expect((await moveOwn(id, 'revoke')).status).toBe(200);
    expect(refusalOf(await moveOwn(id, 'resume'))).toMatch(/^409 executor_revoked/);
  });

  it('are not found by another human, an administrator on this plane, or another account', async () => {
    const runner: TestExecutor = executorOf(await registerOwn(own()));
    const others = [
      await newHuman(node, account),
      await withToken(node, account, account.adminId),
      await newHuman(node, stranger),
    ];
    for (const who of others) {
      expect(await listOwn(who)).not.toContain(runner.id);
      for (const verb of ['revoke', 'shutdown', 'resume']) {
        expect((await moveOwn(runner.id, verb, who)).status).toBe(404);
      }
    }
    for (const id of [UNKNOWN, 'x']) expect((await moveOwn(id, 'revoke')).status).toBe(404);
    expect((await describeOf(runner.token)).status).toBe(200);
  });

  it('are for people: an agent is refused every verb', async () => {
    const agent = await newAgent(node, account, { steward_public_id: human.id });
    const { id } = executorOf(await registerOwn(own()));
    const answers = [
      await registerOwn(own(), agent),
      await node.http('GET', path, { token: agent.token }),
      ...(await Promise.all(['revoke', 'shutdown', 'resume'].map((verb) => moveOwn(id, verb, agent)))),
    ];
    for (const answer of answers) expect(refusalOf(answer)).toMatch(/^403 person_required/);
  });

  it('are safe to repeat by Idempotency-Key, per person', async () => {
    const body = own();
    const headers = { 'Idempotency-Key': 'mine' };
    const [one, two] = await Promise.all([1, 2].map(() => registerOwn(body, human, headers)));
    expect(one?.text).toBe(two?.text);
    const fellow = await newHuman(node, account);
    const theirs = await registerOwn(body, fellow, headers);
    expect(theirs.status).toBe(201);
    expect(theirs.body.executor.public_id).not.toBe(one?.body.executor.public_id);
  });
});

describe('The audit', () => {
  it('names registrations, re-pairs, shutdowns, resumptions and revocations, once each', async () => {
    const human = await newHuman(node, account);
    const body = runnerBody({ manager_public_id: human.id, assignment_scope: 'user_private' });
    const { id, token } = executorOf(await register(body));
    const headers = { 'Idempotency-Key': 'audited' };
    await register(body, { headers });
    await register(body, { headers });
    const path = `/agent_api/v1/executors/registrations/${id}`;
    await node.http('POST', `${path}/shutdown`, { token: human.token });
    await move(id, 'resume');
    await move(id, 'revoke');
    await move(id, 'revoke');
    const { body: page, text } = await node.http('GET', '/platform_api/v1/audit?limit=5', {
      token: account.platformToken,
    });
    expect(page.entries.map((row: Row) => [row.action, row.actor_public_id, row.subject_public_id])).toEqual([
      ['executor.revoked', account.adminId, id],
      ['executor.resumed', account.adminId, id],
      ['executor.shut_down', human.id, id],
      ['executor.re_paired', account.adminId, id],
      ['executor.registered', account.adminId, id],
    ]);
    expect(text).not.toContain(token.slice(-43));
  });
});

describe('NATS told to runners', () => {
  it('is the public address where one is set, and never holds the node’s own password', async () => {
    const { toldServers } = await import('../../src/identity/bus-access.js');
    const { readEnv } = await import('../../src/config/env.js');
    expect(toldServers(readEnv({ NATS_URL: 'nats://node:secret@a:4222, node:s@b:4222,c:4222' }))).toEqual([
      'nats://a:4222',
      'b:4222',
      'c:4222',
    ]);
    const settings = { NATS_URL: 'nats://a', NEXUS_PUBLIC_NATS_URL: 'tls://p:1,tls://q:2' };
    expect(toldServers(readEnv(settings))).toEqual(['tls://p:1', 'tls://q:2']);
  });
});
