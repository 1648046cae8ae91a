import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connect } from 'nats';
import { BusKeys } from '../../src/bus/grants/bus-keys.js';
import { newUser } from '../../src/bus/grants/user-jwt.js';
import type { AccountId } from '../../src/db/account-id.js';
import { authenticatorOf } from '../../src/nkeys/creds.js';
import { createAccountAt } from '../../src/cli/create-account-at.js';
import { until } from '../support/cluster.js';
import { SERVERS } from '../support/database.js';
import {
  accountOf,
  firstAccount,
  newAgent,
  newHuman,
  newRunner,
  ok,
  onBus,
  type TestAccount,
  type TestBus,
  type TestExecutor,
  type TestMember,
} from '../support/factories.js';
import { TestNode } from '../support/node.js';
import { GrantProbe, isRefused } from './grant-probe.js';

const VERBS = ['PING', 'INFO', 'STATS'] as const;
const each = (...suffixes: string[]): string[] =>
  VERBS.flatMap((verb) => suffixes.map((suffix) => `$SRV.${verb}${suffix}`));
const ELSE = '01900000-0000-7000-8000-000000000000';

let node: TestNode;
let other: TestNode;
let account: TestAccount;
let prefix: string;
const probes: GrantProbe[] = [];

beforeAll(async () => {
  node = await TestNode.start();
  other = await TestNode.start({}, node);
  account = await firstAccount(node);
  prefix = node.env.NEXUS_BUS_PREFIX;
});
afterAll(async () => {
  await Promise.all(probes.map((probe) => probe.close()));
  await other.close();
  await node.close();
});

async function probeOf({ bus }: { bus: TestBus<{ inbox_prefix: string }> }): Promise<GrantProbe> {
  const probe = await GrantProbe.connect(bus);
  probes.push(probe);
  return probe;
}

const administer = (method: string, path: string, body?: unknown, at = node) =>
  at.http(method, `/platform_api/v1/${path}`, { token: account.platformToken, body });

async function platformCredential(): Promise<{ id: string; bus: TestMember['bus'] }> {
  const body = { name: 'console', plane: 'platform' };
  const { body: answer } = ok(await administer('POST', `members/${account.adminId}/credentials`, body));
  return { id: answer.credential.public_id, bus: answer.bus };
}

/** A principal of the table: what it may and may not do, as the server says. */
interface Row {
  readonly bus: TestBus<{ inbox_prefix: string }>;
  readonly publish: readonly [allowed: string[], denied: string[]];
  readonly subscribe: readonly [allowed: string[], denied: string[]];
}

async function expectRow({ bus, publish, subscribe }: Row): Promise<void> {
  const probe = await probeOf({ bus });
  expect(await probe.publishable(publish.flat())).toEqual(publish[0]);
  expect(await probe.subscribable(subscribe.flat())).toEqual(subscribe[0]);
}

const NEVER_SUBSCRIBED = [
  '>',
  '_INBOX.>',
  '_INBOX.*.>',
  '_INBOX.nexus.>',
  `_INBOX.${ELSE}.>`,
  `_INBOX.${ELSE}-1.>`,
  '$SRV.>',
  '$SRV.*',
  '$SRV.PING.>',
  '$SRV.INFO.*',
  '$SRV.INFO.nexus-executor',
  '$SYS.>',
];
const NEVER_PUBLISHED = [
  'anything',
  '$SRV.X',
  '$SYS.REQ.CLAIMS.UPDATE',
  '$SYS.REQ.SERVER.PING',
  '_INBOX.nexus.x',
  `_INBOX.${ELSE}.x`,
];

describe('The table of grants, as the server holds it', () => {
  const executorRow = ({ id, epoch, bus }: TestExecutor, modules: string[], instance: string): Row => ({
    bus,
    publish: [
      [
        `${prefix}.executor.${id}.${epoch}.announce`,
        `${prefix}.executor.${id}.${epoch}.any.thing`,
        ...each('', '.x', '.x.y'),
      ],
      [
        ...NEVER_PUBLISHED,
        `${prefix}.executor.${id}.${epoch + 1}.announce`,
        `${prefix}.executor.${id}.${epoch}`,
        `${prefix}.executor.${ELSE}.1.announce`,
        `${prefix}.work.${id}.${epoch}`,
        `${prefix}.tool.${id}.${epoch}.read`,
        `${prefix}.member.${id}.call`,
        `${prefix}.node.credential`,
        `_INBOX.${id}-${epoch}.x`,
      ],
    ],
    subscribe: [
      [
        `_INBOX.${id}-${epoch}.>`,
        `${prefix}.work.${id}.${epoch}`,
        `${prefix}.tool.${id}.${epoch}.> q`,
        `${prefix}.tool.${id}.${epoch}.read q`,
        ...each('', ...modules.flatMap((module) => [`.${module}`, `.${module}.${instance}`])),
      ],
      [
        ...NEVER_SUBSCRIBED,
        // without a queue, or in another, it would hear what is served elsewhere too
        `${prefix}.tool.${id}.${epoch}.>`,
        `${prefix}.tool.${id}.${epoch}.read`,
        `${prefix}.tool.${id}.${epoch}.read other`,
        `${prefix}.tool.${id}.*.read q`,
        `${prefix}.tool.> q`,
        `${prefix}.work.${id}.${epoch + 1}`,
        `${prefix}.work.${id}.*`,
        `${prefix}.work.${ELSE}.1`,
        `${prefix}.executor.${id}.${epoch}.>`,
        `${prefix}.executor.> nexus`,
        `${prefix}.node.>`,
        ...each('.stranger', `.stranger.${instance}`),
      ],
    ],
  });

  it('an executor that serves one module', async () => {
    const runner = await newRunner(node, account);
    const row = executorRow(runner, ['tools'], runner.id);
    row.subscribe[1].push(...each(`.tools.${ELSE}`, '.tools.*', '.tools.>'));
    await expectRow(row);
  });

  it('an executor that serves several modules, at its second epoch', async () => {
    const fields = { registration_identifier: 'several', modules: ['files', 'shell', 'git'] };
    await newRunner(node, account, fields);
    const runner = await newRunner(node, account, fields);
    expect(runner.epoch).toBe(2);
    await expectRow(executorRow(runner, ['files', 'shell', 'git'], runner.id));
  });

  it('an executor registered with service_ids any', async () => {
    const runner = await newRunner(node, account, { service_ids: 'any' });
    await expectRow(executorRow(runner, ['tools'], ELSE));
  });

  it.each([
    ['a human', async () => newHuman(node, account)],
    ['an agent', async () => newAgent(node, account)],
  ])('a credential of %s', async (_who, make) => {
    const { credentialId: id, bus } = await make();
    await expectRow(memberRow(id, bus));
  });

  it('a credential of an administrator', async () => {
    const { id, bus } = await platformCredential();
    await expectRow(memberRow(id, bus));
  });

  const memberRow = (id: string, bus: TestBus<{ inbox_prefix: string }>): Row => ({
    bus,
    publish: [
      [`${prefix}.member.${id}.call`, `${prefix}.member.${id}.machines`, ...each('', '.x', '.x.y')],
      [
        ...NEVER_PUBLISHED,
        `${prefix}.member.${ELSE}.call`,
        `${prefix}.executor.${id}.1.announce`,
        `${prefix}.tool.${ELSE}.1.read`,
        `_INBOX.${id}.x`,
      ],
    ],
    subscribe: [
      [`_INBOX.${id}.>`, `_INBOX.${id}.x.*`],
      [
        ...NEVER_SUBSCRIBED,
        `${prefix}.member.${id}.>`,
        `${prefix}.work.>`,
        `${prefix}.tool.> q`,
        ...each('', '.tools', `.tools.${id}`),
      ],
    ],
  });

  it('an executor answers as often as it has services, a member never', async () => {
    const fields = { modules: ['one', 'two'] };
    const [runner, member] = [await newRunner(node, account, fields), await newHuman(node, account)];
    const [answering, asking] = [await probeOf(runner), await probeOf(member)];
    const answers: string[] = [];
    const inbox = `${member.bus.subjects.inbox_prefix}.x`;
    asking.connection.subscribe(inbox, {
      callback: (_, { data }) => answers.push(Buffer.from(data).toString()),
    });
    await asking.connection.flush();
    answering.connection.subscribe('$SRV.PING.one', {
      callback: (_, message) => {
        for (const word of ['first', 'second', 'third']) message.respond(word);
      },
    });
    await answering.connection.flush();
    asking.connection.publish('$SRV.PING.one', '', { reply: inbox });
    await asking.connection.flush();
    await answering.connection.flush();
    await asking.connection.flush();
    expect(answers).toEqual(['first', 'second']);
  });

  it('a denied reply subject is where nothing goes: a member’s request that names another’s has no effect', async () => {
    const [member, victim] = [await newHuman(node, account), await newHuman(node, account)];
    const [asking, reading] = [await probeOf(member), await probeOf(victim)];
    const reply = `${victim.bus.subjects.inbox_prefix}.x`;
    const heard = reading.connection.subscribe(reply);
    await reading.connection.flush();
    asking.connection.publish(`${member.bus.subjects.member}.call`, '{}', { reply });
    await asking.connection.flush();
    const own = await onBus(member);
    await own.ask('call', {});
    await reading.connection.flush();
    expect(heard.getReceived()).toBe(0);
    await own.close();
  });
});

describe('Every registration and every credential', () => {
  it('is issued a key of its own, of which only the public half is kept', async () => {
    const [runner, member] = [await newRunner(node, account), await newHuman(node, account)];
    const { rows } = await node.db.pool.query<{ key: string }>(
      'select bus_user_key as key from credentials where executor_id = $1 or id = $2',
      [runner.id, member.credentialId],
    );
    expect(new Set(rows.map(({ key }) => key)).size).toBe(2);
    for (const { key } of rows) expect(key).toMatch(/^U[A-Z2-7]{55}$/);
    const { rows: all } = await node.db.pool.query<{ row: string }>(
      'select c::text as row from credentials c',
    );
    for (const { row } of all) expect(row).not.toMatch(/SU[A-Z2-7]{56}/);
  });

  it('is answered again with the same credentials by its Idempotency-Key', async () => {
    const headers = { 'Idempotency-Key': 'once' };
    const body = { name: 'twice' };
    const path = `/platform_api/v1/members/${account.adminId}/credentials`;
    const ask = () => node.http('POST', path, { token: account.platformToken, body, headers });
    const [first, second] = [ok(await ask()), ok(await ask())];
    expect(second.body.bus).toEqual(first.body.bus);
    expect(await isRefused(second.body.bus)).toBe(false);
  });

  it('works as soon as it is answered, on the first of an account too', async () => {
    const { platformToken } = await createAccountAt(node.env.DATABASE_URL ?? '', 'Fresh');
    const fresh = await accountOf(node, platformToken);
    const runner = await newRunner(node, fresh);
    const client = await onBus(runner);
    expect((await client.ask('describe')).body.executor.public_id).toBe(runner.id);
    await client.close();
  });
});

describe('Who speaks is proven by the subject', () => {
  it('so no token is asked for, and one that is there is not read', async () => {
    const [runner, stranger] = [await newRunner(node, account), await newRunner(node, account)];
    const client = await onBus(runner);
    for (const token of ['nonsense', stranger.token, account.platformToken]) {
      const { status, body } = await client.ask('describe', {}, { token });
      expect([status, body.executor.public_id]).toEqual([200, runner.id]);
    }
    await client.close();
  });

  it('in its own account only: nobody of another account can speak for an executor or a credential', async () => {
    const { platformToken, accountId } = await createAccountAt(node.env.DATABASE_URL ?? '', 'Strangers');
    await newRunner(node, await accountOf(node, platformToken));
    const [runner, member] = [await newRunner(node, account), await newHuman(node, account)];
    // as much as a key of that account could ever grant
    const user = newUser(new BusKeys(SERVERS.busKeys).account(accountId), 'stranger', undefined);
    for (const { subject, inboxPrefix, body } of [
      {
        subject: `${runner.subjects.executor}.describe`,
        inboxPrefix: runner.subjects.inbox_prefix,
        body: {},
      },
      {
        subject: `${member.bus.subjects.member}.call`,
        inboxPrefix: member.bus.subjects.inbox_prefix,
        body: { step: { call: { name: 'x', key: 'x', input: {} } } },
      },
    ]) {
      const stranger = await connect({
        servers: SERVERS.nats,
        inboxPrefix,
        authenticator: authenticatorOf(user),
      });
      const answer = await stranger.request(subject, JSON.stringify(body));
      expect(answer.headers?.get('Nats-Service-Error')).toBe('unauthorized');
      await stranger.close();
    }
  });

  it('and the accounts hear nothing of each other', async () => {
    const { platformToken, accountId } = await createAccountAt(node.env.DATABASE_URL ?? '', 'Eavesdroppers');
    const theirs = await newRunner(node, await accountOf(node, platformToken));
    const user = newUser(new BusKeys(SERVERS.busKeys).account(accountId), 'stranger', undefined);
    const stranger = await connect({ servers: SERVERS.nats, authenticator: authenticatorOf(user) });
    const heard: string[] = [];
    stranger.subscribe('>', { callback: (_, { subject }) => heard.push(subject) });
    await stranger.flush();
    const runner = await onBus(await newRunner(node, account));
    await runner.ask('describe');
    const their = await onBus(theirs);
    await their.ask('describe');
    await stranger.flush();
    expect(heard.filter((subject) => subject.startsWith(prefix))).toEqual([
      `${theirs.subjects.executor}.describe`,
    ]);
    await Promise.all([stranger, runner, their].map((client) => client.close()));
  });
});

describe('Revoking', () => {
  /** Keeps every node from telling the server of the account, until it is called again. */
  async function withhold(): Promise<() => Promise<void>> {
    const client = await node.db.pool.connect();
    const { rows } = await client.query<{ id: AccountId }>(
      'select account_id as id from members where id = $1',
      [account.adminId],
    );
    await client.query('select pg_advisory_lock(7420003, hashtext($1))', [rows[0]?.id]);
    return async () => {
      await client.query('select pg_advisory_unlock_all()');
      client.release();
    };
  }

  it('fences an executor and a credential at once, even before the server has cut the connection', async () => {
    const fields = { registration_identifier: 'fenced' };
    const [revoked, paired] = [await newRunner(node, account), await newRunner(node, account, fields)];
    const member = await newHuman(node, account);
    const clients = await Promise.all([revoked, paired, member].map((principal) => onBus(principal)));
    const ask = (at: number): Promise<string | undefined> =>
      (clients[at] as (typeof clients)[0])
        .ask(at === 2 ? 'call' : 'describe', at === 2 ? { step: {} } : {})
        .then(({ code }) => code);
    expect(await Promise.all([0, 1, 2].map(ask))).toEqual([undefined, undefined, 'parameter_missing']);
    const release = await withhold();
    try {
      ok(await administer('POST', `executors/${revoked.id}/revoke`));
      await newRunner(other, account, fields);
      ok(await administer('DELETE', `credentials/${member.credentialId}`, undefined, other));
      expect(await Promise.all([0, 1, 2].map(ask))).toEqual(Array(3).fill('unauthorized'));
    } finally {
      await release();
    }
    await Promise.all(clients.map((client) => client.isCutOff()));
    for (const { bus } of [revoked, paired, member]) expect(await isRefused(bus)).toBe(true);
  });

  it('cuts the connection of that user alone, and lets the successor in', async () => {
    const fields = { registration_identifier: 'cut' };
    const older = await newRunner(node, account, fields);
    const [cut, bystander] = [await probeOf(older), await probeOf(await newRunner(node, account))];
    const newer = await newRunner(node, account, fields);
    await cut.isCutOff();
    expect(await isRefused(older.bus)).toBe(true);
    const successor = await onBus(newer);
    expect((await successor.ask('describe')).status).toBe(200);
    await successor.close();
    await bystander.connection.flush();
    expect(bystander.connection.isClosed()).toBe(false);
  });

  it('a credential of an executor cuts it off too', async () => {
    const runner = await newRunner(node, account);
    const probe = await probeOf(runner);
    const credentialId = runner.token.slice(4, 40);
    ok(await administer('DELETE', `credentials/${credentialId}`));
    await probe.isCutOff();
    expect(await isRefused(runner.bus)).toBe(true);
  });

  it('over two nodes at once loses none', async () => {
    const members = await Promise.all(Array.from({ length: 12 }, () => newHuman(node, account)));
    const spared = await newHuman(node, account);
    const all: GrantProbe[] = [];
    for (const member of members) all.push(await probeOf(member));
    await Promise.all(
      members.map(({ credentialId }, index) =>
        administer('DELETE', `credentials/${credentialId}`, undefined, index % 2 === 0 ? node : other),
      ),
    );
    await Promise.all(all.map((probe) => probe.isCutOff()));
    expect(await Promise.all(members.map(({ bus }) => isRefused(bus)))).toEqual(Array(12).fill(true));
    expect(await isRefused(spared.bus)).toBe(false);
  });

  it('that a node committed and then died is told to the server by another', async () => {
    const member = await newHuman(node, account);
    const probe = await probeOf(member);
    // what that node's transaction did
    await node.db.pool.query(
      `with revoked as (update credentials set revoked_at = now() where id = $1 returning account_id)
       update bus_accounts set wanted = wanted + 1 where account_id = (select account_id from revoked)`,
      [member.credentialId],
    );
    await probe.isCutOff();
  });
});

describe('A credential that expires', () => {
  it('ends its connection with it, and is not let in again', async () => {
    const expires_at = new Date(Math.ceil(Date.now() / 1_000) * 1_000 + 2_000).toISOString();
    const body = { name: 'short', expires_at };
    const answer = ok(await administer('POST', `members/${account.adminId}/credentials`, body));
    const probe = await probeOf(answer.body);
    await probe.isCutOff();
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(expires_at));
    expect(probe.faults).toContain('AUTHENTICATION_EXPIRED');
    // NATS counts whole seconds
    await until(() => isRefused(answer.body.bus));
  });
});
