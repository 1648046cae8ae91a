import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AuditService } from '../../src/identity/audit.service.js';
import {
  firstAccount,
  newAgent,
  newExecutor,
  newHuman,
  newRunner,
  type TestAccount,
  type TestMember,
  withToken,
} from '../support/factories.js';
import { createDatabase, dropDatabase } from '../support/database.js';
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

const asAdmin = (method: string, path: string, body?: unknown, headers = {}): Promise<HttpAnswer> =>
  node.http(method, `/platform_api/v1/${path}`, { token: account.platformToken, body, headers });

const asStranger = (method: string, path: string, body?: unknown): Promise<HttpAnswer> =>
  node.http(method, `/platform_api/v1/${path}`, { token: stranger.platformToken, body });

/** The code and message of a refusal, with its status before them. */
const refusalOf = ({ status, body }: HttpAnswer): string =>
  `${status} ${body?.error?.code}: ${body?.error?.message}`;

type Row = Record<string, unknown> & { public_id: string };

/** Every row of a keyset-paged list, read by pages of two. */
async function everyRow(path: string, name: string, token = account.platformToken): Promise<Row[]> {
  const rows: Row[] = [];
  for (let after = ''; ;) {
    const { status, body } = await node.http('GET', `${path}?limit=2&after=${after}`, { token });
    expect(status).toBe(200);
    expect(body[name].length).toBeLessThanOrEqual(2);
    rows.push(...body[name]);
    if (body.pagination.next_after === null) return rows;
    after = body.pagination.next_after;
  }
}

describe('Humans', () => {
  it('are created with their role, member unless it is named', async () => {
    const plain = await asAdmin('POST', 'humans', { display_name: 'Ada' });
    expect(plain.status).toBe(201);
    expect(plain.body).toEqual({
      human: {
        public_id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/),
        display_name: 'Ada',
        role: 'member',
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      },
    });
    const admin = await asAdmin('POST', 'humans', { display_name: 'Grace', role: 'admin' });
    expect(admin.body.human.role).toBe('admin');
    const empty = await asAdmin('POST', 'humans', { display_name: 'Lin', role: null, unknown: 1 });
    expect(empty.body.human.role).toBe('member');
  });

  it.each([
    ['400 parameter_missing: display_name is required', {}],
    ['422 validation_failed: display_name must be a string', { display_name: 7 }],
    ['422 validation_failed: display_name must be a string', { display_name: null }],
    ['422 validation_failed: display_name must be a string', { display_name: '  ' }],
    ['422 validation_failed: display_name must be a string', { display_name: 'a'.repeat(201) }],
    ['422 validation_failed: display_name must be a string', { display_name: 'a\0' }],
    ['422 validation_failed: display_name must be a string', '{"display_name":"\\ud800"}'],
    ['422 validation_failed: role must be one of member, admin', { display_name: 'a', role: 'owner' }],
    ['400 invalid_json', '{"display_name"'],
    ['400 invalid_json', '[]'],
  ])('are refused with %s', async (refusal, body) => {
    expect(refusalOf(await asAdmin('POST', 'humans', body))).toMatch(
      new RegExp(`^${refusal.replace(/[()]/g, '.')}`),
    );
  });

  it('are created once for an Idempotency-Key', async () => {
    const create = (name: string): Promise<HttpAnswer> =>
      asAdmin('POST', 'humans', { display_name: name }, { 'Idempotency-Key': 'one-human' });
    const answers = await Promise.all([1, 2, 3, 4].map(() => create('Once')));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
    expect(refusalOf(await create('Twice'))).toMatch(/^409 idempotency_conflict/);
    const humans = await everyRow('/platform_api/v1/humans', 'humans');
    expect(humans.filter(({ display_name }) => display_name === 'Once')).toHaveLength(1);
  });

  it('are listed by pages, in the order of their creation, and agents are not among them', async () => {
    const ids: string[] = [];
    for (let at = 0; at < 5; at += 1) ids.push((await newHuman(node, account)).id);
    const agent = await newAgent(node, account);
    const listed = (await everyRow('/platform_api/v1/humans', 'humans')).map(({ public_id }) => public_id);
    expect(listed.slice(-5)).toEqual(ids);
    expect(listed).not.toContain(agent.id);
    expect(new Set(listed).size).toBe(listed.length);
  });
});

describe('A list', () => {
  it.each(['humans', 'agents', 'credentials', 'executors', 'audit'])(
    '%s refuses a limit and a cursor that are none',
    async (list) => {
      for (const query of ['limit=0', 'limit=201', 'limit=x', 'after=x', `after=${UNKNOWN}`, 'after=IjEi']) {
        expect(refusalOf(await asAdmin('GET', `${list}?${query}`))).toMatch(/^400 parameter_invalid/);
      }
    },
  );
});

describe('Agents', () => {
  const rules = [
    { tool: 'read|ls_*', path: 'a.b', match: 'x*', effect: { destructive: true }, verdict: 'deny' },
  ];

  it('are created with a steward; the floor is ask and there are no rules unless they are named', async () => {
    const plain = await asAdmin('POST', 'agents', {
      display_name: 'Bot',
      steward_public_id: account.adminId,
    });
    expect(plain.status).toBe(201);
    expect(plain.body).toEqual({
      agent: {
        public_id: expect.any(String),
        display_name: 'Bot',
        steward_public_id: account.adminId,
        approval_floor: 'ask',
        approval_rules: [],
        created_at: expect.any(String),
      },
    });
    const set = await asAdmin('POST', 'agents', {
      display_name: 'Bot 2',
      steward_public_id: account.adminId,
      approval_floor: 'bypass',
      approval_rules: rules,
    });
    expect(set.body.agent).toMatchObject({ approval_floor: 'bypass', approval_rules: rules });
    const listed = await everyRow('/platform_api/v1/agents', 'agents');
    expect(listed).toContainEqual(set.body.agent);
  });

  it.each([
    ['400 parameter_missing: display_name is required', { display_name: undefined }],
    ['400 parameter_missing: steward_public_id is required', { steward_public_id: undefined }],
    ['422 validation_failed: steward_public_id must be a public id', { steward_public_id: 'ada' }],
    ['422 validation_failed: steward_public_id names no human', { steward_public_id: UNKNOWN }],
    ['422 validation_failed: approval_floor must be one of', { approval_floor: 'none' }],
    ['422 validation_failed: approval_rules must be a list', { approval_rules: null }],
    ['422 validation_failed: approval_rules\\[0\\].verdict must', { approval_rules: [{ tool: 'a' }] }],
    [
      '422 validation_failed: approval_rules\\[0\\].reason',
      { approval_rules: [{ tool: 'a', verdict: 'ask', reason: 'a\0' }] },
    ],
  ])('are refused with %s', async (refusal, fields) => {
    const body = { display_name: 'Bot', steward_public_id: account.adminId, ...fields };
    expect(refusalOf(await asAdmin('POST', 'agents', body))).toMatch(new RegExp(`^${refusal}`));
  });

  it('have a human of their own account as steward: no agent, nobody of another account', async () => {
    const agent = await newAgent(node, account);
    const refusals = await Promise.all(
      [agent.id, stranger.adminId, UNKNOWN].map((steward_public_id) =>
        asAdmin('POST', 'agents', { display_name: 'Bot', steward_public_id }),
      ),
    );
    expect(new Set(refusals.map(refusalOf)).size).toBe(1);
  });

  it('name all faults of their rules in details', async () => {
    const { body } = await asAdmin('POST', 'agents', {
      display_name: 'Bot',
      steward_public_id: account.adminId,
      approval_rules: [{ tool: '', verdict: 'no' }],
    });
    expect(body.error.details.map(({ path }: { path: string }) => path)).toEqual([
      'approval_rules[0].tool',
      'approval_rules[0].verdict',
    ]);
  });

  it('are changed by an administrator: what is absent stays', async () => {
    const { id } = await newAgent(node, account, { approval_rules: rules });
    const floor = await asAdmin('PATCH', `agents/${id}`, { approval_floor: 'rules' });
    expect(floor.status).toBe(200);
    expect(floor.body.agent).toMatchObject({ approval_floor: 'rules', approval_rules: rules });
    const cleared = await asAdmin('PATCH', `agents/${id}`, { approval_rules: [] });
    expect(cleared.body.agent).toMatchObject({ approval_floor: 'rules', approval_rules: [] });
    expect((await asAdmin('PATCH', `agents/${id}`, {})).body).toEqual(cleared.body);
    expect(refusalOf(await asAdmin('PATCH', `agents/${id}`, { approval_floor: 'x' }))).toMatch(/^422 valid/);
    expect(refusalOf(await asAdmin('PATCH', `agents/${id}`, { approval_rules: {} }))).toMatch(/^422 valid/);
  });

  it('show a change to their profile on every node at once', async () => {
    const agent = await newAgent(node, account);
    const profile = async (at: TestNode): Promise<unknown> =>
      (await at.http('GET', '/agent_api/v1/profile', { token: agent.token })).body.member.approval_floor;
    expect(await Promise.all([profile(node), profile(other)])).toEqual(['ask', 'ask']);
    await asAdmin('PATCH', `agents/${agent.id}`, { approval_floor: 'bypass' });
    expect(await Promise.all([profile(node), profile(other)])).toEqual(['bypass', 'bypass']);
  });

  it('are not found by whom they are none for', async () => {
    const human = await newHuman(node, account);
    for (const id of [UNKNOWN, 'x', human.id, human.id.toUpperCase()]) {
      expect((await asAdmin('PATCH', `agents/${id}`, { approval_floor: 'rules' })).status).toBe(404);
    }
    const agent = await newAgent(node, account);
    expect((await asStranger('PATCH', `agents/${agent.id}`, { approval_floor: 'bypass' })).status).toBe(404);
  });

  describe('by their steward', () => {
    let steward: TestMember;
    let agent: TestMember;
    const change = (who: TestMember, body: object, id = agent.id): Promise<HttpAnswer> =>
      node.http('PATCH', `/agent_api/v1/agents/${id}`, { token: who.token, body });

    beforeAll(async () => {
      steward = await newHuman(node, account);
      agent = await newAgent(node, account, { steward_public_id: steward.id });
    });

    it('get their floor and rules', async () => {
      const answer = await change(steward, { approval_floor: 'bypass', approval_rules: rules });
      expect(answer.status).toBe(200);
      expect(answer.body.agent).toMatchObject({
        public_id: agent.id,
        approval_floor: 'bypass',
        approval_rules: rules,
      });
    });

    it('never from the agent itself', async () => {
      const fellow = await newAgent(node, account, { steward_public_id: steward.id });
      for (const [who, id] of [
        [agent, agent.id],
        [agent, fellow.id],
        [fellow, UNKNOWN],
      ] as const) {
        expect(refusalOf(await change(who, { approval_floor: 'bypass' }, id))).toMatch(
          /^403 person_required/,
        );
      }
    });

    it('and are not found by any other human, by themselves no more than by a made-up id', async () => {
      const bystander = await newHuman(node, account);
      const admin = await withToken(node, account, account.adminId);
      const foreigner = await newHuman(node, stranger);
      for (const who of [bystander, admin, foreigner]) {
        expect((await change(who, { approval_floor: 'ask' })).status).toBe(404);
      }
      expect((await change(steward, { approval_floor: 'ask' }, UNKNOWN)).status).toBe(404);
      expect((await change(steward, { approval_floor: 'ask' }, steward.id)).status).toBe(404);
    });
  });
});

describe('Credentials', () => {
  const mint = (memberId: string, body: object, headers = {}): Promise<HttpAnswer> =>
    asAdmin('POST', `members/${memberId}/credentials`, body, headers);
  const whoAmI = (at: TestNode, token: string): Promise<HttpAnswer> =>
    at.http('GET', '/agent_api/v1/profile', { token });

  it('answer the whole token once, and where its holder speaks on the bus', async () => {
    const human = await newHuman(node, account);
    const { status, body } = await mint(human.id, { name: 'laptop' });
    expect(status).toBe(201);
    const id = body.credential.public_id;
    const prefix = node.env.NEXUS_BUS_PREFIX;
    expect(body).toEqual({
      credential: {
        public_id: id,
        plane: 'member',
        name: 'laptop',
        expires_at: null,
        created_at: expect.any(String),
        last_used_at: null,
      },
      secret: expect.stringMatching(new RegExp(`^nxm_${id}_[\\w-]{43}$`)),
      bus: {
        servers: [node.env.NATS_URL],
        credentials: expect.stringContaining('BEGIN NATS USER JWT'),
        subjects: { member: `${prefix}.member.${id}`, inbox_prefix: `_INBOX.${id}` },
      },
    });
    const me = await whoAmI(node, body.secret);
    expect(me.body.member.public_id).toBe(human.id);
    const listed = await asAdmin('GET', 'credentials?limit=200');
    expect(listed.text).not.toContain(body.secret.slice(-43));
    expect(listed.body.credentials.map((row: Row) => row.public_id)).toContain(id);
  });

  it('of the platform plane are for a human who is an admin', async () => {
    const [human, agent] = [await newHuman(node, account), await newAgent(node, account)];
    for (const { id } of [human, agent]) {
      const refused = await mint(id, { name: 'x', plane: 'platform' });
      expect(refusalOf(refused)).toMatch(/^403 admin_required/);
    }
    const { status, body } = await mint(account.adminId, { name: 'second', plane: 'platform' });
    expect([status, body.credential.plane]).toEqual([201, 'platform']);
    expect(body.secret).toMatch(/^nxp_/);
    const used = await node.http('GET', '/platform_api/v1/retention', { token: body.secret });
    expect(used.status).toBe(200);
  });

  it.each([
    ['400 parameter_missing: name is required', { name: undefined }],
    ['422 validation_failed: name must', { name: '' }],
    ['422 validation_failed: plane must be one of member, platform', { plane: 'executor_transport' }],
    ['422 validation_failed: expires_at must be an ISO 8601', { expires_at: 'tomorrow' }],
    ['422 validation_failed: expires_at must be an ISO 8601', { expires_at: 1893456000000 }],
    ['422 validation_failed: expires_at must be an ISO 8601', { expires_at: '2030-01-01T00:00:00' }],
    ['422 validation_failed: expires_at must be an ISO 8601', { expires_at: '2030-13-01T00:00:00Z' }],
    ['422 validation_failed: expires_at must be in the future', { expires_at: '2020-01-01T00:00:00Z' }],
  ])('are refused with %s', async (refusal, fields) => {
    expect(refusalOf(await mint(account.adminId, { name: 'x', ...fields }))).toMatch(
      new RegExp(`^${refusal}`),
    );
  });

  it('are for members of the account', async () => {
    for (const id of [UNKNOWN, 'x', stranger.adminId]) {
      expect((await mint(id, { name: 'x' })).status).toBe(404);
    }
  });

  it('end when they expire, on every node', async () => {
    const human = await newHuman(node, account);
    const { body } = await mint(human.id, { name: 'short', expires_at: '2999-01-01T01:00:00+01:00' });
    expect(body.credential.expires_at).toBe('2999-01-01T00:00:00.000Z');
    const brief = await mint(human.id, {
      name: 'brief',
      expires_at: new Date(Date.now() + 700).toISOString(),
    });
    expect((await whoAmI(node, brief.body.secret)).status).toBe(200);
    await new Promise((resolve) => setTimeout(resolve, 800));
    for (const at of [node, other]) expect((await whoAmI(at, brief.body.secret)).status).toBe(401);
  });

  it('repeated with their Idempotency-Key answer the same secret, and are one', async () => {
    const human = await newHuman(node, account);
    const headers = { 'Idempotency-Key': 'mint' };
    const answers = await Promise.all([1, 2, 3].map(() => mint(human.id, { name: 'once' }, headers)));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers.filter(({ headers: head }) => head['idempotency-replayed'] === 'true')).toHaveLength(2);
    const elsewhere = await mint(account.adminId, { name: 'once' }, headers);
    expect(refusalOf(elsewhere)).toMatch(/^409 idempotency_conflict/);
  });

  it('that are deleted are fenced at once on two nodes, and deleting again is as good', async () => {
    const { token, credentialId } = await newHuman(node, account);
    for (const at of [node, other]) expect((await whoAmI(at, token)).status).toBe(200);
    const deleted = await asAdmin('DELETE', `credentials/${credentialId}`);
    expect([deleted.status, deleted.text]).toEqual([204, '']);
    const answers = await Promise.all([node, other].map((at) => whoAmI(at, token)));
    expect(answers.map(({ status }) => status)).toEqual([401, 401]);
    expect(answers.map(({ headers }) => headers['www-authenticate'])).toEqual(
      Array(2).fill('Bearer realm="Nexus"'),
    );
    expect((await asAdmin('DELETE', `credentials/${credentialId}`)).status).toBe(204);
    const listed = await everyRow('/platform_api/v1/credentials', 'credentials');
    expect(listed.map(({ public_id }) => public_id)).not.toContain(credentialId);
  });

  it('are fenced under load: no request that begins after the deletion was answered is let in', async () => {
    const { token, credentialId } = await newHuman(node, account);
    let deleted = false;
    const late: number[] = [];
    const ask = async (at: TestNode): Promise<void> => {
      for (let lateHere = 0; lateHere < 20;) {
        // an answer from memory is made without I/O: let the deletion have its turn
        await setImmediate();
        const begunLate = deleted;
        const { status } = await whoAmI(at, token);
        if (!begunLate) continue;
        lateHere += 1;
        late.push(status);
      }
    };
    const asking = Promise.all([node, other, node, other].map(ask));
    await asAdmin('DELETE', `credentials/${credentialId}`);
    deleted = true;
    await asking;
    expect(late).toHaveLength(80);
    expect(new Set(late)).toEqual(new Set([401]));
  });

  it('of other accounts and made-up ones are not found', async () => {
    const { token, credentialId } = await newHuman(node, account);
    expect((await asStranger('DELETE', `credentials/${credentialId}`)).status).toBe(404);
    for (const id of [UNKNOWN, 'x']) expect((await asAdmin('DELETE', `credentials/${id}`)).status).toBe(404);
    expect((await whoAmI(node, token)).status).toBe(200);
  });

  it('that are missing, malformed, unknown, revoked or of a wrong plane are one answer', async () => {
    const human = await newHuman(node, account);
    const runner = await newRunner(node, account);
    const tokens = [
      undefined,
      'x',
      `${human.token}x`,
      `nxp${human.token.slice(3)}`,
      human.token,
      runner.token,
      account.platformToken.replace(/.{43}$/, 'A'.repeat(43)),
    ];
    const answers = await Promise.all(
      tokens.map((token) => node.http('GET', '/platform_api/v1/humans', { token })),
    );
    expect(new Set(answers.map(refusalOf)).size).toBe(1);
    expect(answers[0]?.status).toBe(401);
  });
});

describe('Two accounts', () => {
  it('never see each other, on any list of the Platform API', async () => {
    const mine = [await newHuman(node, account), await newAgent(node, account)].map(({ id }) => id);
    const runner = await newRunner(node, account);
    for (const list of ['humans', 'agents', 'credentials', 'executors', 'audit']) {
      const { status, text } = await asStranger('GET', `${list}?limit=200`);
      expect(status).toBe(200);
      for (const id of [...mine, runner.id, account.adminId]) expect(text).not.toContain(id);
    }
  });

  it('page through their own rows only, whatever cursor they bring', async () => {
    const page = await asAdmin('GET', 'humans?limit=1');
    const stolen = await asStranger('GET', `humans?after=${page.body.pagination.next_after}`);
    const own = await asStranger('GET', 'humans');
    expect(stolen.body.humans).toEqual(own.body.humans);
  });

  it('may use one Idempotency-Key without meeting', async () => {
    const headers = { 'Idempotency-Key': 'shared-key' };
    const body = { display_name: 'Same' };
    const [one, two] = await Promise.all(
      [account, stranger].map(({ platformToken: token }) =>
        node.http('POST', '/platform_api/v1/humans', { token, body, headers }),
      ),
    );
    expect([one?.status, two?.status]).toEqual([201, 201]);
    expect(one?.body.human.public_id).not.toBe(two?.body.human.public_id);
  });
});

describe('The audit', () => {
  it('says who did what, the newest first, without secrets or inputs', async () => {
    const human = await newHuman(node, account);
    const agent = await newAgent(node, account, { steward_public_id: human.id });
    await node.http('PATCH', `/agent_api/v1/agents/${agent.id}`, {
      token: human.token,
      body: { approval_rules: [{ tool: 'secret_tool', verdict: 'deny' }] },
    });
    await asAdmin('DELETE', `credentials/${agent.credentialId}`);
    const { body, text } = await asAdmin('GET', 'audit?limit=6');
    expect(body.entries.map((row: Row) => [row.action, row.actor_public_id, row.subject_public_id])).toEqual([
      ['credential.revoked', account.adminId, agent.credentialId],
      ['agent.changed', human.id, agent.id],
      ['credential.minted', account.adminId, agent.credentialId],
      ['agent.created', account.adminId, agent.id],
      ['credential.minted', account.adminId, human.credentialId],
      ['human.created', account.adminId, human.id],
    ]);
    expect(Object.keys(body.entries[0])).toEqual([
      'public_id',
      'at',
      'actor_public_id',
      'action',
      'subject_public_id',
      'detail',
    ]);
    expect(text).not.toMatch(/nx[mep]_|secret_tool/);
  });

  it('is paged, and ends with the making of the account', async () => {
    const entries = await everyRow('/platform_api/v1/audit', 'entries');
    const ids = entries.map(({ public_id }) => public_id);
    expect(ids).toEqual([...ids].sort().reverse());
    expect(entries.at(-1)).toMatchObject({ action: 'account.created', actor_public_id: null });
  });

  it('says nothing of what was refused, and can be changed by nobody', async () => {
    const before = (await asAdmin('GET', 'audit?limit=1')).body;
    await asAdmin('POST', 'agents', { display_name: 'Bot', steward_public_id: UNKNOWN });
    await asAdmin('DELETE', `credentials/${UNKNOWN}`);
    expect((await asAdmin('GET', 'audit?limit=1')).body).toEqual(before);
    for (const method of ['POST', 'PATCH', 'DELETE']) {
      expect((await asAdmin(method, 'audit')).status).toBe(404);
    }
  });

  it('is kept 400 days', async () => {
    const { pool } = node.db;
    const backdate = (id: string, days: number): Promise<unknown> =>
      pool.query(`update audit_entries set at = now() - make_interval(days => $2) where subject_id = $1`, [
        id,
        days,
      ]);
    const [old, recent] = [await newHuman(node, account), await newHuman(node, account)];
    await backdate(old.id, 401);
    await backdate(recent.id, 399);
    await node.app.get(AuditService).forgetOld();
    const subjects = (await everyRow('/platform_api/v1/audit', 'entries')).map(
      (row) => row.subject_public_id,
    );
    expect(subjects).toContain(recent.id);
    expect(subjects).not.toContain(old.id);
  });
});

describe('Retention settings', () => {
  it('are 90 days by default, and a positive integer or null', async () => {
    expect((await asStranger('GET', 'retention')).body).toEqual({ execution_details_retention_days: 90 });
    for (const days of [1, 365, null, 2_147_483_647]) {
      const changed = await asStranger('PATCH', 'retention', { execution_details_retention_days: days });
      expect(changed.status).toBe(200);
      expect(changed.body).toEqual({ execution_details_retention_days: days });
      expect((await asStranger('GET', 'retention')).body).toEqual(changed.body);
    }
    expect((await asAdmin('GET', 'retention')).body).toEqual({ execution_details_retention_days: 90 });
    const [entry] = (await asStranger('GET', 'audit?limit=1')).body.entries;
    expect(entry).toMatchObject({
      action: 'retention.changed',
      detail: { execution_details_retention_days: 2_147_483_647 },
    });
  });

  it.each([[0], [-1], [1.5], ['90'], [true], [2_147_483_648], [[]]])('refuse %j', async (days) => {
    const refused = await asStranger('PATCH', 'retention', { execution_details_retention_days: days });
    expect(refusalOf(refused)).toBe(
      '422 validation_failed: execution_details_retention_days must be a positive integer or null',
    );
  });

  it('want the setting named', async () => {
    expect(refusalOf(await asStranger('PATCH', 'retention', {}))).toMatch(/^400 parameter_missing/);
  });
});

describe('The first start of an empty database', () => {
  it('makes one account, one admin and one credential, and a file that only its owner reads', async () => {
    const path = join(node.home, 'platform.secret');
    const { mode } = await stat(path);
    expect((mode & 0o777).toString(8)).toBe('600');
    const secret = (await readFile(path, 'utf8')).trim();
    expect(secret).toMatch(/^nxp_/);
    expect(await readdir(node.home)).toEqual(['platform.secret']);
    const [human] = (await asAdmin('GET', 'humans?limit=1')).body.humans;
    expect(human).toMatchObject({ display_name: 'Administrator', role: 'admin' });
    const { rows } = await node.db.pool.query(`select display_name from accounts order by id limit 1`);
    expect(rows).toEqual([{ display_name: 'default' }]);
  });

  it('happens once when two nodes start together, and not again at the next start', async () => {
    const homes = await Promise.all([1, 2].map(() => mkdtemp(join(tmpdir(), 'nexus-home-'))));
    const shared = { DATABASE_URL: await createDatabase(), NEXUS_BUS_PREFIX: 'together' };
    const nodes = await Promise.all(homes.map((home) => TestNode.start({ ...shared, NEXUS_HOME: home })));
    const counted = await nodes[0]?.db.pool.query(
      `select (select count(*) from accounts)::int as accounts, (select count(*) from members)::int as members,
              (select count(*) from credentials)::int as credentials`,
    );
    expect(counted?.rows).toEqual([{ accounts: 1, members: 1, credentials: 1 }]);
    const files = (await Promise.all(homes.map((home) => readdir(home)))).flat();
    expect(files).toEqual(['platform.secret']);
    await Promise.all(nodes.map((started) => started.close()));
    const again = await TestNode.start({ ...shared, NEXUS_HOME: homes[0] });
    expect((await again.db.pool.query('select from credentials')).rowCount).toBe(1);
    await again.close();
    await dropDatabase(shared.DATABASE_URL);
    await Promise.all(homes.map((home) => rm(home, { recursive: true })));
  });
});

describe('Executor credentials', () => {
  it('are listed and may be deleted; the executor is then not credential-ready', async () => {
    const runner = await newExecutor(node, account, {
      kind: 'runner',
      display_name: 'Fenced',
      manager_public_id: account.adminId,
      registration_identifier: 'fenced',
      assignment_scope: 'account_wide',
    });
    const human = await newHuman(node, account);
    const credential = (await everyRow('/platform_api/v1/credentials', 'credentials')).find((row) =>
      runner.token.includes(row.public_id),
    );
    expect(credential).toMatchObject({ plane: 'executor_transport', name: 'Fenced' });
    const describe = (at: TestNode): Promise<HttpAnswer> =>
      at.http('GET', '/agent_api/v1/executor', { token: runner.token });
    const discover = (): Promise<HttpAnswer> =>
      node.http('GET', `/agent_api/v1/executors/${runner.id}`, { token: human.token });
    expect([(await describe(other)).status, (await discover()).status]).toEqual([200, 200]);
    expect((await asAdmin('DELETE', `credentials/${credential?.public_id}`)).status).toBe(204);
    const after = await Promise.all([describe(node), describe(other), discover()]);
    expect(after.map(({ status }) => status)).toEqual([401, 401, 404]);
  });
});
