import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { NodeEvents } from '../../src/bus/node-events.js';
import {
  announce,
  firstAccount,
  newAgent,
  newExecutor,
  newHuman,
  newRunner,
  ok,
  READ_ONLY,
  type TestAccount,
  type TestExecutor,
  type TestMember,
  tool,
  withToken,
} from '../support/factories.js';
import { type HttpAnswer, TestNode } from '../support/node.js';
import { secondAccount } from './second-account.js';

const EXECUTORS = '/agent_api/v1/executors';

let node: TestNode;
let beside: TestNode;
let account: TestAccount;
let other: TestAccount;
let admin: TestMember;

beforeAll(async () => {
  node = await TestNode.start();
  beside = await TestNode.start({}, node);
  account = await firstAccount(node);
  other = await secondAccount(node);
  admin = await withToken(node, account, account.adminId);
});

afterAll(async () => {
  await beside.close();
  await node.close();
});

const list = (
  member: TestMember,
  query = '',
  headers: Record<string, string> = {},
  at = node,
): Promise<HttpAnswer> => at.http('GET', `${EXECUTORS}${query}`, { token: member.token, headers });

const read = (
  member: TestMember,
  id: string,
  headers: Record<string, string> = {},
  at = node,
): Promise<HttpAnswer> => at.http('GET', `${EXECUTORS}/${id}`, { token: member.token, headers });

const idsOf = (answer: HttpAnswer): string[] =>
  ok(answer).body.executors.map(({ public_id }: { public_id: string }) => public_id);

const administer = async (executor: TestExecutor, verb: 'shutdown' | 'resume' | 'revoke'): Promise<void> => {
  ok(
    await node.http('POST', `/platform_api/v1/executors/${executor.id}/${verb}`, {
      token: account.platformToken,
    }),
  );
};

/** Every row a member sees, over all pages. */
async function everything(
  member: TestMember,
  limit = 200,
  between?: () => Promise<unknown>,
): Promise<string[]> {
  const ids: string[] = [];
  let after: string | null = '';
  while (after !== null) {
    const answer = ok(await list(member, `?limit=${limit}&after=${after}`));
    ids.push(...idsOf(answer));
    after = answer.body.pagination.next_after as string | null;
    await between?.();
  }
  return ids;
}

describe('an executor is shown only where it is eligible: scope × member × state', () => {
  const STATES = [
    'ready',
    'shutting down',
    'resumed',
    'revoked',
    'credential expired',
    'credential revoked',
    're-paired',
  ] as const;
  const SCOPES = ['user_private', 'account_wide'] as const;

  const members: Record<string, { member: TestMember; private: boolean; sameAccount: boolean }> = {};
  const executors = new Map<string, TestExecutor>();

  const inState = async (
    executor: TestExecutor,
    state: (typeof STATES)[number],
    fields: object,
  ): Promise<void> => {
    if (state === 'shutting down' || state === 'resumed') await administer(executor, 'shutdown');
    if (state === 'resumed') await administer(executor, 'resume');
    if (state === 'revoked') await administer(executor, 'revoke');
    if (state === 'credential expired') {
      const expire = `update credentials set expires_at = now() - interval '1 second' where executor_id = $1`;
      await node.db.pool.query(expire, [executor.id]);
    }
    if (state === 'credential revoked') {
      const { rows } = await node.db.pool.query<{ id: string }>(
        `select id from credentials where executor_id = $1`,
        [executor.id],
      );
      const path = `/platform_api/v1/credentials/${rows[0]?.id}`;
      ok(await node.http('DELETE', path, { token: account.platformToken }));
    }
    if (state === 're-paired') await newRunner(node, account, fields);
  };

  beforeAll(async () => {
    const manager = await newHuman(node, account);
    const stranger = await newHuman(node, account);
    Object.assign(members, {
      'the manager': { member: manager, private: true, sameAccount: true },
      'the agent of the manager': {
        member: await newAgent(node, account, { steward_public_id: manager.id }),
        private: true,
        sameAccount: true,
      },
      'another human': { member: stranger, private: false, sameAccount: true },
      'an agent of another human': {
        member: await newAgent(node, account, { steward_public_id: stranger.id }),
        private: false,
        sameAccount: true,
      },
      'the administrator': { member: admin, private: false, sameAccount: true },
      'a human of another account': {
        member: await newHuman(node, other),
        private: false,
        sameAccount: false,
      },
      'an agent of another account': {
        member: await newAgent(node, other),
        private: false,
        sameAccount: false,
      },
    });
    for (const scope of SCOPES) {
      for (const state of STATES) {
        const fields = {
          manager_public_id: manager.id,
          assignment_scope: scope,
          registration_identifier: `${scope} ${state}`,
          display_name: `${scope} ${state}`,
        };
        const executor = await newRunner(node, account, fields);
        await inState(executor, state, fields);
        executors.set(`${scope} ${state}`, executor);
      }
    }
  });

  const live = (state: string): boolean => state === 'ready' || state === 'resumed' || state === 're-paired';

  it.each([
    'the manager',
    'the agent of the manager',
    'another human',
    'an agent of another human',
    'the administrator',
    'a human of another account',
    'an agent of another account',
  ])('to %s', async (who) => {
    const { member, private: isPrivate, sameAccount } = members[who] ?? { member: admin };
    const listed = new Set(await everything(member));
    for (const scope of SCOPES) {
      for (const state of STATES) {
        const { id } = executors.get(`${scope} ${state}`) ?? { id: '' };
        const shown = sameAccount === true && live(state) && (scope === 'account_wide' || isPrivate === true);
        expect([scope, state, listed.has(id)]).toEqual([scope, state, shown]);
        const answer = await read(member, id);
        expect([scope, state, answer.status]).toEqual([scope, state, shown ? 200 : 404]);
        if (!shown) expect(answer.body.error.code).toBe('not_found');
      }
    }
  });

  it('unknown, malformed, of another account and not eligible are all the same 404', async () => {
    const foreign = await newRunner(node, other);
    const hidden = executors.get('account_wide shutting down')?.id ?? '';
    const ids = ['01990000-0000-7000-8000-000000000000', 'nonsense', '%00', foreign.id, hidden];
    const answers = await Promise.all(ids.map((id) => read(admin, id)));
    for (const answer of answers) {
      expect(answer.status).toBe(404);
      expect(answer.body).toEqual(answers[0]?.body);
    }
  });

  it('knowing a tag grants nothing', async () => {
    const foreign = await newRunner(node, other);
    expect((await read(admin, foreign.id, { 'if-none-match': '*' })).status).toBe(404);
  });

  it('another plane’s credential lists nothing', async () => {
    const runner = await newRunner(node, account);
    for (const token of [runner.token, account.platformToken, undefined]) {
      expect((await node.http('GET', EXECUTORS, { token })).status).toBe(401);
    }
  });
});

describe('a row', () => {
  it('of an executor that never announced serves nothing, and its presence does not filter it', async () => {
    const runner = await newRunner(node, account, {
      display_name: 'Quiet',
      modules: ['files'],
      machine: 'quiet-box',
    });
    const expected = {
      public_id: runner.id,
      kind: 'runner',
      display_name: 'Quiet',
      status: 'active',
      assignment_scope: 'account_wide',
      served_tools: [],
      environment: {},
      served_documents: [],
      presence: 'not_yet_seen',
      last_seen_at: null,
      connected_at: null,
      modules: ['files'],
      machine: 'quiet-box',
      announced_at: null,
    };
    expect(ok(await read(admin, runner.id)).body).toEqual({ executor: expected });
    const { executors } = ok(await list(admin, '?limit=200&q=quiet')).body;
    expect(executors).toEqual([expected]);

    await node.db.pool.query(`update executors set last_seen_at = now() - interval '1 day' where id = $1`, [
      runner.id,
    ]);
    expect(ok(await list(admin, '?limit=200&q=quiet')).body.executors).toMatchObject([
      { presence: 'offline' },
    ]);
  });

  it('is the same in the list as alone, and verbatim in both', async () => {
    const runner = await newRunner(node, account, { display_name: 'Verbatim' });
    const environment = '{ "cores":2.0, "text":"\\u00e9" }';
    ok(
      await node.http('PUT', '/agent_api/v1/executor/announcement', {
        token: runner.token,
        body: `{"tools":[],"environment":${environment}}`,
      }),
    );
    const alone = ok(await read(admin, runner.id));
    const listed = ok(await list(admin, '?q=verbatim'));
    expect(alone.text).toContain(environment);
    expect(listed.text).toContain(environment);
    expect(listed.body.executors).toEqual([alone.body.executor]);
    expect(listed.headers['content-type']).toMatch(/^application\/json/);
  });

  it('view=summary gives each tool as name, effect profile, timeout, description and schema digest', async () => {
    const runner = await newRunner(node, account, { display_name: 'Summed up' });
    await announce(
      node,
      runner,
      [tool('bash', { timeout_ms: 5, notes: 'kept whole' }), { name: 'raw', effect_profile: READ_ONLY }],
      {
        environment: { os: 'linux' },
      },
    );
    const summary = ok(await list(admin, '?view=summary&q=summed')).body.executors;
    expect(summary).toMatchObject([{ public_id: runner.id, environment: { os: 'linux' } }]);
    expect(summary[0].served_tools).toEqual([
      {
        name: 'bash',
        effect_profile: READ_ONLY,
        timeout_ms: 5,
        description: 'The tool bash',
        input_schema_sha256: 'a2c799262a3ce3c19ef5cdd983bf3d12b43ab3c426227091b909dcb7054738c0',
      },
      { name: 'raw', effect_profile: READ_ONLY },
    ]);
    expect(ok(await read(admin, runner.id)).body.executor.served_tools[0].notes).toBe('kept whole');
  });
});

describe('the list', () => {
  it('is in a stable order and pages without gaps or doubles while executors are registered', async () => {
    const member = await newHuman(node, other);
    const first: string[] = [];
    for (let index = 0; index < 7; index += 1) first.push((await newRunner(node, other)).id);
    const inserted: string[] = [];
    const seen = await everything(member, 3, async () => {
      if (inserted.length < 2) inserted.push((await newRunner(node, other)).id);
    });
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.filter((id) => first.includes(id))).toEqual(first);
    expect(seen.slice(-2)).toEqual(inserted);
    expect(await everything(member, 1)).toEqual(await everything(member));
  });

  it('goes on after a row that has gone meanwhile', async () => {
    const member = await newHuman(node, account);
    const fields = {
      manager_public_id: member.id,
      assignment_scope: 'user_private',
      display_name: 'Vanishing',
    };
    const runners = [
      await newRunner(node, account, fields),
      await newRunner(node, account, fields),
      await newRunner(node, account, fields),
    ];
    const page = ok(await list(member, '?limit=2&q=vanishing'));
    expect(idsOf(page)).toEqual(runners.slice(0, 2).map(({ id }) => id));
    await administer(runners[1] as TestExecutor, 'revoke');
    const rest = ok(await list(member, `?limit=2&q=vanishing&after=${page.body.pagination.next_after}`));
    expect(idsOf(rest)).toEqual([runners[2]?.id]);
    expect(rest.body.pagination).toEqual({ next_after: null });
  });

  it('narrows by kind, and never shows an agent application', async () => {
    const agent = await newAgent(node, account);
    const application = await newExecutor(node, account, {
      kind: 'agent_application',
      display_name: 'Application',
      agent_public_id: agent.id,
      assignment_scope: 'user_private',
    });
    const runner = await newRunner(node, account);
    const provider = await newRunner(node, account, { kind: 'tool_provider' });
    const shown = async (query: string): Promise<boolean[]> => {
      const ids = idsOf(await list(agent, `?limit=200${query}`));
      return [runner, provider, application].map(({ id }) => ids.includes(id));
    };
    expect(await shown('')).toEqual([true, true, false]);
    expect(await shown('&kind=runner')).toEqual([true, false, false]);
    expect(await shown('&kind=tool_provider')).toEqual([false, true, false]);
    expect((await read(agent, application.id)).status).toBe(404);
  });

  it.each([
    'kind=agent_application',
    'kind=',
    'kind=runner&kind=runner',
    'limit=0',
    'limit=201',
    'after=x',
    'view=tiny',
    'q=%00',
  ])('is refused parameter_invalid for %s', async (query) => {
    const answer = await list(admin, `?${query}`);
    expect([answer.status, answer.body.error.code]).toEqual([400, 'parameter_invalid']);
  });

  it('ends a page early at 4 MiB, after at least one row, and goes on behind it', async () => {
    const member = await newHuman(node, account);
    const fields = { manager_public_id: member.id, assignment_scope: 'user_private', display_name: 'Heavy' };
    const runners: TestExecutor[] = [];
    for (let index = 0; index < 7; index += 1) {
      const runner = await newRunner(node, account, fields);
      await announce(node, runner, [tool('a', { notes: 'x'.repeat(767 * 1024 - 500) })]);
      runners.push(runner);
    }
    const ids = runners.map(({ id }) => id);
    const page = ok(await list(member, '?q=heavy'));
    expect(idsOf(page)).toEqual(ids.slice(0, 5));
    expect(Buffer.byteLength(page.text)).toBeLessThanOrEqual(4 * 1024 * 1024);
    const rest = ok(await list(member, `?q=heavy&after=${page.body.pagination.next_after}`));
    expect(idsOf(rest)).toEqual(ids.slice(5));
    expect(rest.body.pagination).toEqual({ next_after: null });
    expect(idsOf(await list(member, '?q=heavy&view=summary'))).toEqual(ids);
  });

  describe('q', () => {
    let member: TestMember;
    const ids: Record<string, string> = {};

    beforeAll(async () => {
      member = await newHuman(node, account);
      const fields = { manager_public_id: member.id, assignment_scope: 'user_private' };
      const build = await newRunner(node, account, { ...fields, display_name: 'Build Box 100%' });
      await announce(node, build, [tool('bash', { description: 'Runs a Shell' })], {
        environment: { secretword: 1 },
      });
      const files = await newRunner(node, account, { ...fields, display_name: 'Ärger_box' });
      await announce(node, files, [tool('read_file'), { name: 'files_bytes', effect_profile: READ_ONLY }]);
      Object.assign(ids, { build: build.id, files: files.id });
    });

    it.each([
      ['bash', ['build']],
      ['BASH', ['build']],
      ['shell', ['build']],
      ['build shell', ['build']],
      ['shell%20%20build', ['build']],
      ['box', ['build', 'files']],
      ['100%25', ['build']],
      ['_box', ['files']],
      ['%C3%A4rger', ['files']],
      ['files_bytes', ['files']],
      ['bash read_file', []],
      ['secretword', []],
      ['', ['build', 'files']],
    ])(
      '%s finds %j: every word, in any case, in display name, served names and descriptions',
      async (words, found) => {
        const shown = idsOf(await list(member, `?limit=200&q=${words.replaceAll(' ', '+')}`));
        const mine = Object.entries(ids).filter(([, id]) => shown.includes(id));
        expect(mine.map(([name]) => name)).toEqual(found);
      },
    );
  });
});

describe('If-None-Match', () => {
  let member: TestMember;
  let runner: TestExecutor;
  const fields: Record<string, unknown> = {};

  beforeAll(async () => {
    member = await newHuman(node, account);
    Object.assign(fields, {
      manager_public_id: member.id,
      assignment_scope: 'user_private',
      registration_identifier: 'tagged',
      display_name: 'Tagged',
    });
    runner = await newRunner(node, account, fields);
    await announce(node, runner, [tool('a')]);
  });

  const tagOf = (answer: HttpAnswer): string => String(ok(answer).headers['etag']);
  const ask = (tag: string): Record<string, string> => ({ 'if-none-match': tag });

  it('an unchanged page and row cost 304 without a body, on every node', async () => {
    for (const get of [
      (headers: Record<string, string>, at: TestNode) => list(member, '?limit=20', headers, at),
      (headers: Record<string, string>, at: TestNode) => list(member, '?view=summary&q=tagged', headers, at),
      (headers: Record<string, string>, at: TestNode) => read(member, runner.id, headers, at),
    ]) {
      const tag = tagOf(await get({}, node));
      expect(tag).toMatch(/^W\/"/);
      for (const at of [node, beside, node, beside]) {
        const answer = await get(ask(tag), at);
        expect([answer.status, answer.text, answer.headers['etag']]).toEqual([304, '', tag]);
      }
      expect((await get(ask('W/"another"'), node)).status).toBe(200);
    }
  });

  it('presence and contact times are not part of the tag', async () => {
    const tag = tagOf(await list(member, '?limit=20'));
    await node.db.pool.query(
      `update executors set last_seen_at = now(), connected_at = now() where id = $1`,
      [runner.id],
    );
    node.app.get(NodeEvents).publish('executor', { id: runner.id });
    expect((await list(member, '?limit=20', ask(tag))).status).toBe(304);
  });

  it('a page that is known to be unchanged costs no statement', async () => {
    const tag = tagOf(await list(member, '?limit=20'));
    const queries = jest.spyOn(node.db.pool, 'query');
    try {
      expect((await list(member, '?limit=20', ask(tag))).status).toBe(304);
      expect(queries).not.toHaveBeenCalled();
    } finally {
      queries.mockRestore();
    }
  });

  it('every change of a row, or of the rows, changes the tag at once', async () => {
    const added: TestExecutor[] = [];
    const changes: Record<string, () => Promise<unknown>> = {
      'another announcement': () => announce(node, runner, [tool('b')]),
      'the same announcement again': () => announce(node, runner, [tool('b')]),
      'a re-pair under another name': async () => {
        runner = await newRunner(node, account, { ...fields, display_name: 'Renamed' });
      },
      'a new executor': async () => {
        added.push(await newRunner(node, account, { ...fields, registration_identifier: 'tagged-too' }));
      },
      shutdown: () => administer(runner, 'shutdown'),
      resume: () => administer(runner, 'resume'),
      revocation: () => administer(added[0] as TestExecutor, 'revoke'),
    };
    for (const [name, change] of Object.entries(changes)) {
      const tag = tagOf(await list(member, '?limit=20'));
      await list(member, '?limit=20', ask(tag));
      await change();
      const answer = await list(member, '?limit=20', ask(tag));
      expect([name, answer.status]).toEqual([name, 200]);
      expect([name, answer.headers['etag'] === tag]).toEqual([name, false]);
    }
  });

  it('a change on one node ends the tag that another knows, as soon as that hears of it', async () => {
    const tag = tagOf(await list(member, '?limit=20', {}, beside));
    expect((await list(member, '?limit=20', ask(tag), beside)).status).toBe(304);
    const heard = new Promise<void>((resolve) => {
      const stop = beside.app.get(NodeEvents).on('executor', ({ id }) => {
        if (id !== runner.id) return;
        stop();
        resolve();
      });
    });
    await announce(node, runner, [tool('elsewhere')]);
    await heard;
    const answer = await list(member, '?limit=20', ask(tag), beside);
    expect(answer.status).toBe(200);
    expect(answer.text).toContain('elsewhere');
  });

  it('a credential that expires ends the tag by itself', async () => {
    const short = await newRunner(node, account, { ...fields, registration_identifier: 'expiring' });
    const expire = `update credentials set expires_at = clock_timestamp() + interval '1500 milliseconds' where executor_id = $1`;
    await node.db.pool.query(expire, [short.id]);
    node.app.get(NodeEvents).publish('executor', { id: short.id });
    const page = ok(await list(member, '?limit=20'));
    expect(idsOf(page)).toContain(short.id);
    const tag = tagOf(page);
    expect((await list(member, '?limit=20', ask(tag))).status).toBe(304);
    const deadline = Date.now() + 5_000;
    let answer = await list(member, '?limit=20', ask(tag));
    while (answer.status === 304 && Date.now() < deadline) answer = await list(member, '?limit=20', ask(tag));
    expect(answer.status).toBe(200);
    expect(idsOf(answer)).not.toContain(short.id);
  });

  it('views, words and pages of the same rows have tags of their own', async () => {
    const queries = ['?limit=20', '?limit=20&view=summary', '?limit=1'];
    const tags = await Promise.all(queries.map(async (query) => tagOf(await list(member, query))));
    expect(new Set(tags).size).toBe(queries.length);
  });
});

describe('the kernel catalogue', () => {
  it('lists what the kernel itself serves, to every member', async () => {
    for (const member of [admin, await newAgent(node, account)]) {
      const { tools } = ok(await node.http('GET', '/agent_api/v1/tools', { token: member.token })).body;
      expect(tools).toContainEqual({
        canonical_name: 'nexus.runners.list',
        name: 'runners_list',
        effect_profile: READ_ONLY,
        definition: {
          type: 'function',
          function: {
            name: 'runners_list',
            description: expect.any(String),
            parameters: expect.objectContaining({ type: 'object' }),
          },
        },
      });
    }
    expect((await node.http('GET', '/agent_api/v1/tools')).status).toBe(401);
  });
});
