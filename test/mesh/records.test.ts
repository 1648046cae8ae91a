import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '../../src/db/ids.js';
import { secondAccount } from '../discovery/second-account.js';
import { outcome } from '../routing/stage.js';
import { BusClient } from '../support/bus-client.js';
import {
  announce,
  executorOf,
  firstAccount,
  newExecutor,
  newHuman,
  newRunner,
  ok,
  onBus,
  type TestAccount,
  tool,
} from '../support/factories.js';
import { type HttpAnswer, TestNode } from '../support/node.js';

let one: TestNode;
let two: TestNode;
let account: TestAccount;

beforeAll(async () => {
  one = await TestNode.start();
  two = await TestNode.start({}, one);
  account = await firstAccount(one);
});

afterAll(async () => {
  await two?.close();
  await one?.close();
});

const MODULES = '/platform_api/v1/modules';

const platform = (
  method: string,
  path: string,
  body?: object,
  { node = one, of = account, headers = {} } = {},
): Promise<HttpAnswer> =>
  node.http(method, path, { token: of.platformToken, headers, ...(body === undefined ? {} : { body }) });

const freshName = (): string => `m-${newId().slice(-12)}`;

/** The record of a module. */
const moduleOf = async (name: string): Promise<object | undefined> => {
  const { body } = ok(await platform('GET', `${MODULES}?limit=200`));
  return (body as { modules: { name: string }[] }).modules.find((module) => module.name === name);
};

const registration = (kind: string, modules: string[] | undefined, fields: object = {}): object => {
  const name = `executor-${newId()}`;
  return {
    kind,
    display_name: name,
    manager_public_id: account.adminId,
    registration_identifier: name,
    assignment_scope: 'account_wide',
    ...(modules ? { modules } : {}),
    ...fields,
  };
};

const register = (...asked: Parameters<typeof registration>): Promise<HttpAnswer> =>
  platform('POST', '/platform_api/v1/executors', registration(...asked));

describe('A module', () => {
  it('is made, read and changed', async () => {
    const name = freshName();
    const made = await platform('POST', MODULES, { name });
    expect([made.status, made.body]).toEqual([
      201,
      { module: { name, declares_tools: true, interchangeable: false } },
    ]);
    const change = { declares_tools: false, interchangeable: true };
    const changed = ok(await platform('PATCH', `${MODULES}/${name}`, change));
    expect(changed.body).toEqual({ module: { name, ...change } });
    expect(await moduleOf(name)).toEqual({ name, ...change });
    ok(await platform('PATCH', `${MODULES}/${name}`, { declares_tools: true }));
    expect(await moduleOf(name)).toEqual({ name, declares_tools: true, interchangeable: true });
  });

  it('is made once: a second one is module_taken, a repeat by its key is the first answer', async () => {
    const body = { name: freshName(), interchangeable: true };
    const headers = { 'idempotency-key': newId() };
    const answers = [];
    for (let time = 0; time < 2; time += 1)
      answers.push(await platform('POST', MODULES, body, { headers, node: time === 0 ? one : two }));
    expect(answers.map(({ status, text }) => [status, text])).toEqual(Array(2).fill([201, answers[0]?.text]));
    expect(outcome(await platform('POST', MODULES, body))).toBe('409 module_taken');
    const racing = { name: freshName() };
    const outcomes = await Promise.all(
      [one, two, one, two].map(async (node) => outcome(await platform('POST', MODULES, racing, { node }))),
    );
    expect(outcomes.sort()).toEqual(['201', ...Array<string>(3).fill('409 module_taken')]);
  });

  it.each([
    ['400 parameter_missing', {}],
    ['422 validation_failed', { name: 'a b' }],
    ['422 validation_failed', { name: 'nexus-console' }],
    ['422 validation_failed', { name: 'x'.repeat(65) }],
    ['422 validation_failed', { name: 'fine', declares_tools: 'yes' }],
    ['422 validation_failed', { name: 'fine', interchangeable: 1 }],
  ])('is refused %s for %j', async (expected, body) => {
    expect(outcome(await platform('POST', MODULES, body))).toBe(expected);
  });

  it('is not_found where there is none of this name, or it is another account’s', async () => {
    const name = freshName();
    ok(await platform('POST', MODULES, { name }));
    const second = await secondAccount(one);
    for (const [path, of] of [
      [freshName(), account],
      ['a.b', account],
      [name, second],
    ] as const) {
      const answer = await platform('PATCH', `${MODULES}/${path}`, { declares_tools: false }, { of });
      expect(outcome(answer)).toBe('404 not_found');
    }
    ok(await platform('POST', MODULES, { name }, { of: second }));
  });

  it('is audited', async () => {
    const name = freshName();
    ok(await platform('POST', MODULES, { name }));
    ok(await platform('PATCH', `${MODULES}/${name}`, { declares_tools: false }));
    const { body } = ok(await platform('GET', '/platform_api/v1/audit?limit=2'));
    expect(body.entries.map(({ action, detail }: never) => [action, detail])).toEqual([
      ['module.changed', { name, declares_tools: false, interchangeable: false }],
      ['module.created', { name, declares_tools: true, interchangeable: false }],
    ]);
  });
});

describe('A module that a registration names and nobody knows', () => {
  it('is made with declares_tools: true; interchangeable where a tool provider names it', async () => {
    const [runners, providers] = [freshName(), freshName()];
    ok(await register('runner', [runners]));
    ok(await register('tool_provider', [providers]));
    expect(await moduleOf(runners)).toMatchObject({ declares_tools: true, interchangeable: false });
    expect(await moduleOf(providers)).toMatchObject({ declares_tools: true, interchangeable: true });
  });

  it('is made by a re-pair as well, and stays when nobody is assigned to it any more', async () => {
    const [first, later] = [freshName(), freshName()];
    const fields = { registration_identifier: newId() };
    ok(await register('runner', [first], fields));
    expect((await register('runner', [later], fields)).status).toBe(200);
    expect(await moduleOf(first)).toBeDefined();
    expect(await moduleOf(later)).toBeDefined();
  });

  it('is not made by a registration that is refused', async () => {
    const [taken, fresh] = [freshName(), freshName()];
    ok(await register('runner', [taken], { machine: taken }));
    expect(outcome(await register('runner', [fresh, taken], { machine: taken }))).toBe(
      '409 assignment_taken',
    );
    expect(await moduleOf(fresh)).toBeUndefined();
  });

  it('is one, however many name it at once', async () => {
    const modules = [freshName(), freshName(), freshName()];
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        platform('POST', '/platform_api/v1/executors', registration('runner', modules), {
          node: index % 2 === 0 ? one : two,
        }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(12).fill(201));
    const { body } = ok(await platform('GET', `${MODULES}?limit=200`));
    const names = (body as { modules: { name: string }[] }).modules.map(({ name }) => name);
    for (const module of modules) expect(names.filter((name) => name === module)).toHaveLength(1);
  });
});

describe('An interchangeable module', () => {
  it('is served by tool providers only', async () => {
    const name = freshName();
    ok(await platform('POST', MODULES, { name, interchangeable: true }));
    const refused = await register('runner', [freshName(), name]);
    expect(outcome(refused)).toBe('422 validation_failed');
    expect(refused.body.error.message).toBe(`modules[1] names ${name}, which only tool providers serve`);
    const agent = ok(
      await platform('POST', '/platform_api/v1/agents', {
        display_name: 'A',
        steward_public_id: account.adminId,
      }),
    ).body.agent.public_id as string;
    const application = {
      kind: 'agent_application',
      display_name: 'A',
      agent_public_id: agent,
      modules: [name],
    };
    expect(outcome(await platform('POST', '/platform_api/v1/executors', application))).toBe(
      '422 validation_failed',
    );
    expect((await register('tool_provider', [name])).status).toBe(201);
  });

  it('is never made of one that runners serve', async () => {
    const name = freshName();
    const runner = executorOf(ok(await register('runner', [name])));
    const change = (): Promise<HttpAnswer> =>
      platform('PATCH', `${MODULES}/${name}`, { interchangeable: true });
    expect(outcome(await change())).toBe('422 validation_failed');
    ok(await platform('POST', `/platform_api/v1/executors/${runner.id}/revoke`));
    expect(outcome(await change())).toBe('200');
  });

  it('has no runner either where its change and a registration race', async () => {
    for (let round = 0; round < 8; round += 1) {
      const name = freshName();
      ok(await platform('POST', MODULES, { name }));
      const [changed, registered] = await Promise.all([
        platform('PATCH', `${MODULES}/${name}`, { interchangeable: true }, { node: two }),
        platform('POST', '/platform_api/v1/executors', registration('runner', [name])),
      ]);
      expect([outcome(changed), outcome(registered)].sort()).toEqual(
        changed.status === 200 ? ['200', '422 validation_failed'] : ['201', '422 validation_failed'],
      );
    }
  });

  it('is not the default one, which is everybody’s', async () => {
    ok(await register('tool_provider', undefined));
    ok(await register('runner', undefined));
    expect(await moduleOf('tools')).toMatchObject({ interchangeable: false });
  });
});

describe('The controller', () => {
  it('answers machines, modules and assignments alike on REST and on the bus', async () => {
    const second = await secondAccount(one);
    const made = [];
    for (const [machine, modules] of [
      ['attic', ['memory', 'files']],
      ['box', ['files']],
    ] as const) {
      const body = registration('runner', [...modules], { machine, manager_public_id: second.adminId });
      made.push(await newExecutor(one, second, body));
    }
    const [attic, box] = made.map(({ id }) => id);
    const bus = await platformBus(second);
    const expected = {
      machines: {
        machines: [
          { machine: 'attic', modules: ['files', 'memory'] },
          { machine: 'box', modules: ['files'] },
        ],
        pagination: { next_after: null },
      },
      modules: {
        modules: ['files', 'memory'].map((name) => ({ name, declares_tools: true, interchangeable: false })),
        pagination: { next_after: null },
      },
      assignments: {
        assignments: [
          { module: 'files', machine: 'attic', executor_public_id: attic, kind: 'runner' },
          { module: 'memory', machine: 'attic', executor_public_id: attic, kind: 'runner' },
          { module: 'files', machine: 'box', executor_public_id: box, kind: 'runner' },
        ],
        pagination: { next_after: null },
      },
    };
    for (const [list, body] of Object.entries(expected)) {
      const rest = ok(await platform('GET', `/platform_api/v1/${list}`, undefined, { of: second }));
      expect(rest.body).toEqual(body);
      expect((await bus.ask(`controller_${list}`)).text).toBe(rest.text);
      let after: unknown;
      const paged: unknown[] = [];
      do {
        const page = await bus.ask(`controller_${list}`, { limit: 1, ...(after ? { after } : {}) });
        paged.push(...((page.body as Record<string, unknown[]>)[list] as unknown[]));
        after = page.body.pagination.next_after;
      } while (after);
      expect(paged).toEqual((body as Record<string, unknown>)[list]);
    }
    await bus.close();
  });

  it('answers administrators only', async () => {
    const human = await newHuman(one, account);
    const bus = await onBus(human);
    for (const list of ['machines', 'modules', 'assignments']) {
      expect((await one.http('GET', `/platform_api/v1/${list}`, { token: human.token })).status).toBe(401);
      expect(await bus.ask(`controller_${list}`)).toMatchObject({ status: 401, code: 'unauthorized' });
    }
    await bus.close();
  });

  it('forgets an assignment with its executor', async () => {
    const runner = await newRunner(one, account, { machine: 'soon-gone' });
    await announce(one, runner, [tool('ls')]);
    const machines = async (): Promise<string> =>
      ok(await platform('GET', '/platform_api/v1/machines?limit=200')).text;
    expect(await machines()).toContain('soon-gone');
    ok(await platform('POST', `/platform_api/v1/executors/${runner.id}/revoke`));
    expect(await machines()).not.toContain('soon-gone');
  });
});

/** An administrator on the bus. */
async function platformBus(of: TestAccount): Promise<BusClient> {
  const path = `/platform_api/v1/members/${of.adminId}/credentials`;
  const { body } = ok(await platform('POST', path, { name: 'bus', plane: 'platform' }, { of }));
  return BusClient.connect(body.bus, body.secret);
}
