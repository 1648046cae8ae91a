import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { AnnouncementDirectory } from '../../src/announcement/announcement-directory.js';
import { AnnouncementService } from '../../src/announcement/announcement.service.js';
import { NodeEvents } from '../../src/bus/node-events.js';
import type { AccountId } from '../../src/db/account-id.js';
import type { Refusal } from '../../src/errors/refusal.js';
import type { BusClient } from '../support/bus-client.js';
import {
  announce,
  firstAccount,
  newAgent,
  newExecutor,
  newRunner,
  ok,
  onBus,
  READ_ONLY,
  type TestAccount,
  type TestExecutor,
  type TestMember,
  tool,
  WRITE,
  withToken,
} from '../support/factories.js';
import { type HttpAnswer, TestNode } from '../support/node.js';
import { REFUSALS } from './refusals.js';

const ANNOUNCEMENT = '/agent_api/v1/executor/announcement';

let node: TestNode;
let beside: TestNode;
let account: TestAccount;
let admin: TestMember;

beforeAll(async () => {
  node = await TestNode.start();
  beside = await TestNode.start({}, node);
  account = await firstAccount(node);
  admin = await withToken(node, account, account.adminId);
});

afterAll(async () => {
  await beside.close();
  await node.close();
});

const put = (executor: TestExecutor, body: unknown, at: TestNode = node): Promise<HttpAnswer> =>
  at.http('PUT', ANNOUNCEMENT, { token: executor.token, body });

const directory = (at: TestNode): AnnouncementDirectory => at.app.get(AnnouncementDirectory);

/** The single read of discovery, as text: announced texts are in it as they were sent. */
async function discovered(executor: TestExecutor): Promise<HttpAnswer> {
  return ok(await node.http('GET', `/agent_api/v1/executors/${executor.id}`, { token: admin.token }));
}

/** Every byte that is stored for an executor, and its version. */
async function stored(executor: TestExecutor): Promise<unknown> {
  const { rows } = await node.db.pool.query<Record<string, unknown>>(
    `select version, tools::text, tools_summary::text, tool_names, environment::text, documents::text, delivery,
            max_in_flight, search_text, announced_at
     from announcements where executor_id = $1`,
    [executor.id],
  );
  return rows;
}

describe('an announcement that breaks chapter 2 is refused on both doors, alike', () => {
  let executor: TestExecutor;
  let bus: BusClient;

  beforeAll(async () => {
    executor = await newRunner(node, account);
    bus = await onBus(executor);
    await announce(node, executor, [tool('kept')], { environment: { kept: true } });
  });

  afterAll(() => bus.close());

  it.each(REFUSALS)('$name: $status $code', async ({ body, status, code, message }) => {
    const before = await stored(executor);
    const rest = await put(executor, body);
    expect(rest.body.error.message).toEqual(
      typeof message === 'string' ? message : expect.stringMatching(message),
    );
    expect({ status: rest.status, code: rest.body.error.code }).toEqual({ status, code });
    const overBus = await bus.ask('announce', body);
    expect({ status: overBus.status, code: overBus.code, body: overBus.body }).toEqual({
      status,
      code,
      body: rest.body,
    });
    expect(await stored(executor)).toEqual(before);
  });

  it('reports the first fault in document order, and all of them, at most 20, in details', async () => {
    const bad = Array.from({ length: 30 }, (_, index) => tool(`t${index}`, { timeout_ms: 0 }));
    const { body } = await put(executor, { tools: [tool('fine'), ...bad], documents: 1 });
    expect(body.error.message).toMatch(/^tools\[1\]\.timeout_ms /);
    expect(body.error.details).toHaveLength(20);
    expect(body.error.details[19]).toEqual({
      path: 'tools[20].timeout_ms',
      message: expect.stringMatching(/^tools\[20\]\.timeout_ms /),
    });
  });

  it('names the list and both sizes when a bound is exceeded', async () => {
    const environment = { notes: 'x'.repeat(64 * 1024) };
    const { body } = await put(executor, { tools: [], environment });
    expect(body.error.message).toContain(String(JSON.stringify(environment).length));
  });

  it('needs a live transport credential of the current epoch', async () => {
    const member = await newAgent(node, account);
    for (const token of [undefined, 'nonsense', member.token, account.platformToken]) {
      const answer = await node.http('PUT', ANNOUNCEMENT, { token, body: { tools: [] } });
      expect(answer.status).toBe(401);
      expect(answer.body).toEqual({ error: { code: 'unauthorized', message: expect.any(String) } });
      expect(answer.headers['www-authenticate']).toBe('Bearer realm="Nexus"');
    }
  });
});

describe('an announcement', () => {
  it('answers who the executor is on both doors, and reads no list back', async () => {
    const executor = await newRunner(node, account, { display_name: 'Build box' });
    const bus = await onBus(executor);
    const body = { tools: [tool('bash')] };
    const answers = [ok(await put(executor, body)).body, (await bus.ask('announce', body)).body];
    answers.push(ok(await node.http('GET', '/agent_api/v1/executor', { token: executor.token })).body);
    answers.push((await bus.ask('describe')).body);
    await bus.close();
    for (const answer of answers) {
      expect(answer).toEqual({
        executor: {
          public_id: executor.id,
          kind: 'runner',
          status: 'active',
          display_name: 'Build box',
          credential_epoch: 1,
          presence: 'online',
          last_seen_at: answer.executor.last_seen_at,
          connected_at: answer.executor.connected_at,
        },
        measured_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      });
    }
  });

  it('is stored verbatim: key order, spelling of numbers, escapes, blanks and unknown keys', async () => {
    const profile =
      '{"reconciliation":"none", "kind":"write","destructive":true,"idempotency":"none","effect_scope":"open"}';
    const schema =
      '{ "properties":{"z":{"minimum":1.0,"maximum":1E+2},"a":{"const":-0},"__proto__":{"type":"null"}},\n\t"type":"object"}';
    const tools =
      `[ {"x-vendor":{"b":[1.50, 12345678901234567890],"a":null},"input_schema":${schema},` +
      `"name":"bash","description":"\\u00e9 é \\ud83d\\ude00 😀 \\/ \\"q\\"","effect_profile":${profile},"timeout_ms":1.2e5} ]`;
    const environment = '{"os" : "linux", "cores":2.0, "constructor":{"__proto__":1}, "text":"日本\\n"}';
    const documents = '[{"description":"Ünïcode","name":"a-1","tags":[ ]}]';
    const text = `{"documents": ${documents} ,"tools":${tools},"environment":${environment}}`;

    const executor = await newRunner(node, account);
    const bus = await onBus(executor);
    for (const send of [() => put(executor, text), () => bus.ask('announce', text)]) {
      await announce(node, executor, []);
      expect((await send()).status).toBe(200);
      const answer = await discovered(executor);
      expect(answer.text).toContain(`"served_tools":${tools}`);
      expect(answer.text).toContain(`"environment":${environment}`);
      expect(answer.text).toContain(`"served_documents":${documents}`);
    }
    await bus.close();
    const record = await directory(node).get(executor.id);
    expect(record?.tools.get('bash')).toMatchObject({
      inputSchemaText: schema,
      effectProfileText: profile,
      timeoutMs: 120_000,
    });
    expect(record?.environment.text).toBe(environment);
  });

  it('replaces the whole one before: what is absent is cleared', async () => {
    const executor = await newRunner(node, account);
    const documents = [{ name: 'notes', description: 'Notes' }];
    await announce(node, executor, [tool('a'), tool('b')], {
      environment: { os: 'linux' },
      documents,
      max_in_flight: 3,
    });
    expect((await discovered(executor)).body.executor).toMatchObject({
      environment: { os: 'linux' },
      served_documents: documents,
    });
    expect(await directory(node).get(executor.id)).toMatchObject({ maxInFlight: 3, delivery: 'claim' });

    await announce(node, executor, [tool('c')]);
    const { executor: row } = (await discovered(executor)).body;
    expect(row.served_tools.map(({ name }: { name: string }) => name)).toEqual(['c']);
    expect(row).toMatchObject({ environment: {}, served_documents: [] });
    expect(await directory(node).get(executor.id)).toMatchObject({ maxInFlight: 16, documents: [] });

    await announce(node, executor, []);
    expect((await discovered(executor)).body.executor.served_tools).toEqual([]);
  });

  it('raises a version with every replacement, an equal one too', async () => {
    const executor = await newRunner(node, account);
    const versions: (number | undefined)[] = [];
    for (const name of ['a', 'b', 'b']) {
      await announce(node, executor, [tool(name)]);
      versions.push((await directory(node).get(executor.id))?.version);
    }
    expect(versions).toEqual([1, 2, 3]);
  });

  it('sent many times at once over both doors and two nodes leaves one of them, whole', async () => {
    const executor = await newRunner(node, account);
    const bus = await onBus(executor);
    const body = (mark: number): object => ({ tools: [tool(`tool_${mark}`)], environment: { mark } });
    const sent = Array.from({ length: 12 }, (_, mark) => {
      if (mark % 3 === 0) return bus.ask('announce', body(mark));
      return put(executor, body(mark), mark % 3 === 1 ? node : beside);
    });
    for (const answer of await Promise.all(sent)) expect(answer.status).toBe(200);
    await bus.close();
    const { executor: row } = (await discovered(executor)).body;
    expect(row.served_tools.map(({ name }: { name: string }) => name)).toEqual([
      `tool_${row.environment.mark}`,
    ]);
    expect(await stored(executor)).toMatchObject([
      { version: '12', tool_names: [`tool_${row.environment.mark}`] },
    ]);
  });

  it('keeps the announcement over a re-pair, and admits none of the older epoch', async () => {
    const fields = { registration_identifier: 'announcing-re-pair', display_name: 'Re-paired' };
    const older = await newRunner(node, account, fields);
    await announce(node, older, [tool('kept')]);
    const newer = await newRunner(node, account, fields);
    expect(newer).toMatchObject({ id: older.id, epoch: 2 });

    expect((await put(older, { tools: [] })).status).toBe(401);
    // past the guards: the statement itself is guarded by the epoch
    const caller = {
      plane: 'executor_transport',
      accountId: ((await directory(node).get(older.id))?.accountId ?? '') as AccountId,
      credentialId: older.id,
      principalId: older.id,
      executorId: older.id,
      epoch: 1,
      kind: 'runner',
      agentId: null,
      modules: ['tools'],
    } as const;
    const late = node.app.get(AnnouncementService).announce(caller, '{"tools":[]}');
    await expect(late).rejects.toMatchObject({ code: 'unauthorized' } satisfies Partial<Refusal>);
    expect((await discovered(newer)).body.executor.served_tools).toEqual([tool('kept')]);
    ok(await put(newer, { tools: [] }));
  });

  it('of a revoked executor is refused', async () => {
    const executor = await newRunner(node, account);
    await announce(node, executor, [tool('a')]);
    ok(
      await node.http('POST', `/platform_api/v1/executors/${executor.id}/revoke`, {
        token: account.platformToken,
      }),
    );
    expect((await put(executor, { tools: [] })).status).toBe(401);
    expect(await stored(executor)).toMatchObject([{ version: '1' }]);
  });

  it('of an agent application and of a tool provider is admitted like a runner’s', async () => {
    const agent = await newAgent(node, account);
    const application = await newExecutor(node, account, {
      kind: 'agent_application',
      display_name: 'Application',
      agent_public_id: agent.id,
      assignment_scope: 'user_private',
    });
    const provider = await newRunner(node, account, { kind: 'tool_provider' });
    for (const executor of [application, provider]) {
      await announce(node, executor, [tool('memory_read'), tool('skill'), tool('status')]);
      expect([...((await directory(node).get(executor.id))?.tools.keys() ?? [])]).toEqual([
        'memory_read',
        'skill',
        'status',
      ]);
    }
  });

  it('that carries a module of its own executor is admitted', async () => {
    const executor = await newRunner(node, account, { modules: ['files', 'shell'] });
    await announce(node, executor, [tool('a', { module: 'shell' }), tool('b')]);
    expect((await directory(node).get(executor.id))?.tools.get('a')?.module).toBe('shell');
  });
});

describe('the announcement directory', () => {
  /** Resolves when the node has heard that the executor changed. */
  const hears = (at: TestNode, executor: TestExecutor): Promise<void> =>
    new Promise((resolve) => {
      const stop = at.app.get(NodeEvents).on('executor', ({ id }) => {
        if (id !== executor.id) return;
        stop();
        resolve();
      });
    });

  it('knows nothing of an executor that never announced: it serves nothing', async () => {
    const executor = await newRunner(node, account);
    expect(await directory(node).get(executor.id)).toBeUndefined();
    await announce(node, executor, [tool('a')]);
    expect((await directory(node).get(executor.id))?.tools.size).toBe(1);
  });

  it('shows a replacement at once on the node that took it, and on another as soon as it hears of it', async () => {
    const executor = await newRunner(node, account);
    for (let round = 1; round <= 10; round += 1) {
      const [taking, hearing] = round % 2 === 0 ? [node, beside] : [beside, node];
      await directory(hearing).get(executor.id);
      const heard = hears(hearing, executor);
      ok(await put(executor, { tools: [tool(`round_${round}`, { effect_profile: WRITE })] }, taking));
      expect((await directory(taking).get(executor.id))?.tools.has(`round_${round}`)).toBe(true);
      await heard;
      expect((await directory(hearing).get(executor.id))?.tools.has(`round_${round}`)).toBe(true);
    }
  });

  it('parses a version once, also when the executor changed otherwise', async () => {
    const executor = await newRunner(node, account);
    await announce(node, executor, [tool('a')]);
    const first = await directory(node).get(executor.id);
    node.app.get(NodeEvents).publish('executor', { id: executor.id });
    expect(await directory(node).get(executor.id)).toBe(first);
  });

  it('asks the database for the version while events may be lost', async () => {
    const executor = await newRunner(node, account);
    await announce(node, executor, [tool('a')]);
    await directory(beside).get(executor.id);
    const reliable = jest.spyOn(beside.app.get(NodeEvents), 'isReliable', 'get').mockReturnValue(false);
    try {
      await announce(node, executor, [tool('b')]);
      expect([...((await directory(beside).get(executor.id))?.tools.keys() ?? [])]).toEqual(['b']);
    } finally {
      reliable.mockRestore();
    }
  });
});

describe('two processes with one identity', () => {
  const describeOverRest = (
    executor: TestExecutor,
    query: string,
    at: TestNode = node,
  ): Promise<HttpAnswer> => at.http('GET', `/agent_api/v1/executor?${query}`, { token: executor.token });

  /** As if nothing had been heard from the one in the seat for so long. */
  const silence = (executor: TestExecutor, seconds: number): Promise<unknown> =>
    node.db.pool.query(
      `update incarnations set heard_at = clock_timestamp() - make_interval(secs => $2) where executor_id = $1`,
      [executor.id, seconds],
    );

  it('the second is refused executor_in_use while the first was heard from within 12 s, and waits its turn', async () => {
    const executor = await newRunner(node, account);
    const [one, other] = [await onBus(executor), await onBus(executor)];
    expect((await one.ask('describe', { incarnation_id: 'one' })).status).toBe(200);
    expect((await one.ask('describe', { incarnation_id: 'one' })).status).toBe(200);
    expect(await other.ask('describe', { incarnation_id: 'other' })).toMatchObject({
      status: 409,
      code: 'executor_in_use',
    });
    expect((await describeOverRest(executor, 'incarnation_id=other', beside)).status).toBe(409);

    await silence(executor, 11);
    expect((await other.ask('describe', { incarnation_id: 'other' })).status).toBe(409);
    await silence(executor, 12);
    expect((await other.ask('describe', { incarnation_id: 'other' })).status).toBe(200);
    expect(await one.ask('describe', { incarnation_id: 'one' })).toMatchObject({
      status: 409,
      code: 'executor_in_use',
    });
    await Promise.all([one.close(), other.close()]);
  });

  it('a clean stop hands over at once, and only the one in the seat can leave it', async () => {
    const executor = await newRunner(node, account);
    const [one, other] = [await onBus(executor), await onBus(executor)];
    await one.ask('describe', { incarnation_id: 'one' });
    await other.ask('describe', { incarnation_id: 'other', leaving: true });
    expect((await other.ask('describe', { incarnation_id: 'other' })).status).toBe(409);
    const left = await one.ask('describe', { incarnation_id: 'one', leaving: true });
    expect(left.body.executor.public_id).toBe(executor.id);
    expect((await other.ask('describe', { incarnation_id: 'other' })).status).toBe(200);
    expect((await describeOverRest(executor, 'incarnation_id=other&leaving=true')).status).toBe(200);
    expect((await one.ask('describe', { incarnation_id: 'one' })).status).toBe(200);
    await Promise.all([one.close(), other.close()]);
  });

  it('a re-pair takes over at once', async () => {
    const fields = { registration_identifier: 'seated-re-pair' };
    const older = await newRunner(node, account, fields);
    const before = await onBus(older);
    await before.ask('describe', { incarnation_id: 'before' });
    const newer = await newRunner(node, account, fields);
    const after = await onBus(newer);
    expect((await after.ask('describe', { incarnation_id: 'after' })).status).toBe(200);
    await before.isCutOff();
    await after.close();
  });

  it('of many that start at once over two nodes exactly one gets the seat', async () => {
    const executor = await newRunner(node, account);
    const started = Array.from({ length: 16 }, (_, index) =>
      describeOverRest(executor, `incarnation_id=process-${index}`, index % 2 === 0 ? node : beside),
    );
    const statuses = (await Promise.all(started)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => status === 409)).toHaveLength(15);
  });

  it('who names no incarnation is not guarded', async () => {
    const executor = await newRunner(node, account);
    const [one, stock] = [await onBus(executor), await onBus(executor)];
    await one.ask('describe', { incarnation_id: 'one' });
    expect((await stock.ask('describe')).status).toBe(200);
    expect((await stock.ask('announce', { tools: [] })).status).toBe(200);
    await Promise.all([one.close(), stock.close()]);
  });

  it('a wrong incarnation_id is refused in the words of its door', async () => {
    const executor = await newRunner(node, account);
    const bus = await onBus(executor);
    expect(await bus.ask('describe', { incarnation_id: '' })).toMatchObject({
      status: 422,
      code: 'validation_failed',
    });
    expect(await bus.ask('describe', { leaving: true })).toMatchObject({
      status: 400,
      code: 'parameter_missing',
    });
    await bus.close();
    expect((await describeOverRest(executor, 'incarnation_id=')).body.error.code).toBe('parameter_invalid');
  });
});

describe('presence', () => {
  it('is not_yet_seen before the first contact, then online, then offline, and decides nothing', async () => {
    const executor = await newRunner(node, account);
    expect((await discovered(executor)).body.executor).toMatchObject({
      presence: 'not_yet_seen',
      last_seen_at: null,
    });
    const me = ok(await node.http('GET', '/agent_api/v1/executor', { token: executor.token }));
    expect(me.body.executor.presence).toBe('online');
    expect((await discovered(executor)).body.executor.presence).toBe('online');

    const silent = await newRunner(node, account);
    await node.db.pool.query(
      `update executors set last_seen_at = now() - interval '31 seconds' where id = $1`,
      [silent.id],
    );
    expect((await discovered(silent)).body.executor.presence).toBe('offline');
  });

  it('is shown by another node within seconds', async () => {
    const executor = await newRunner(node, account);
    const told = new Promise<void>((resolve) => {
      beside.app.get(NodeEvents).on('presence', ({ executors }) => {
        if (executors.includes(executor.id)) resolve();
      });
    });
    ok(await node.http('GET', '/agent_api/v1/executor', { token: executor.token }));
    await told;
    const answer = ok(
      await beside.http('GET', `/agent_api/v1/executors/${executor.id}`, { token: admin.token }),
    );
    expect(answer.body.executor.presence).toBe('online');
  });
});

describe('an executor’s own account', () => {
  it('is the only one whose announcement it replaces: the credential names the executor, nothing in the body does', async () => {
    const [one, other] = [await newRunner(node, account), await newRunner(node, account)];
    await announce(node, other, [tool('theirs')]);
    const body = {
      tools: [tool('mine', { effect_profile: READ_ONLY })],
      executor_public_id: other.id,
      public_id: other.id,
    };
    ok(await put(one, body));
    expect([...((await directory(node).get(one.id))?.tools.keys() ?? [])]).toEqual(['mine']);
    expect([...((await directory(node).get(other.id))?.tools.keys() ?? [])]).toEqual(['theirs']);
  });
});
