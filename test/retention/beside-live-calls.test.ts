import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { NodeEvents } from '../../src/bus/node-events.js';
import { readEnv } from '../../src/config/env.js';
import { newId } from '../../src/db/ids.js';
import { KeyedDatabase } from '../../src/db/keyed-database.js';
import { readOldRuns } from '../../src/retention/due-runs.sql.js';
import { emptyRuns } from '../../src/retention/empty-runs.sql.js';
import { renewLease, takeNight } from '../../src/retention/night.sql.js';
import { Nightly } from '../../src/retention/nightly.service.js';
import { Pruning } from '../../src/retention/pruning.service.js';
import { accept, callStep, outcome } from '../routing/stage.js';
import {
  announce,
  firstAccount,
  newAgent,
  newHuman,
  newRun,
  newRunner,
  ok,
  type TestAccount,
  type TestExecutor,
  type TestMember,
  tool,
} from '../support/factories.js';
import { TestNode } from '../support/node.js';
import { claimed, codeOf, parked, restDoor } from '../work/stage.js';
import { accountIdOf, addRuns, addSettledTasks, age, prune, runRow } from './stage.js';

let one: TestNode;
let two: TestNode;
let account: TestAccount;
let agent: TestMember;
let runner: TestExecutor;

beforeAll(async () => {
  one = await TestNode.start();
  two = await TestNode.start({}, one);
  account = await firstAccount(one);
  agent = await newAgent(one, account, { approval_floor: 'bypass' });
  runner = await newRunner(one, account);
  await announce(one, runner, [tool('read')]);
});

afterAll(async () => {
  await two?.close();
  await one?.close();
});

/** A run of `tasks` settled tasks, all of it `days` old. */
async function oldRun(tasks = 1, days = 91): Promise<string> {
  const run = await newRun(one, agent, runner);
  await addSettledTasks(one, run, tasks, 0);
  await age(one, run, days);
  return run;
}

const isPruned = async (run: string): Promise<boolean> =>
  (await runRow(one, run))['details_pruned_at'] !== null;

describe('Pruning on two nodes at once', () => {
  it('prunes each run once, and deletes each task once', async () => {
    const like = await oldRun();
    await addRuns(one, like, 700, 92);
    const many = await oldRun(2_500);
    const counts = await Promise.all([one, two, one, two].map((node) => prune(node, account)));
    const sum = (count: 'runs' | 'tasks'): number => counts.reduce((total, each) => total + each[count], 0);
    expect([sum('runs'), sum('tasks')]).toEqual([702, 3_201]);
    expect(await runRow(one, many)).toMatchObject({ tasks: 0 });
    const { rows } = await one.db.pool.query('select from pruned_runs_to_empty');
    expect(rows).toEqual([]);
  });

  it('never takes a run from under an accepted call: it is accepted and stays, or refused', async () => {
    const runs = await addRuns(one, await oldRun(), 60, 92);
    const [answers] = await Promise.all([
      Promise.all(runs.map((run, index) => accept(index % 2 ? one : two, agent, run, [callStep('read')]))),
      prune(one, account),
      prune(two, account),
    ]);
    await prune(one, account);
    for (const [index, answer] of answers.entries()) {
      const run = await runRow(one, runs[index] as string);
      expect(['201', '410 execution_details_pruned']).toContain(outcome(answer));
      const isKept = answer.status === 201;
      expect([run['tasks'], run['details_pruned_at'] === null]).toEqual([isKept ? 2 : 0, isKept]);
    }
  });

  it('never takes a declaration from under a run that is being made', async () => {
    for (let round = 0; round < 10; round += 1) {
      await oldRun(0);
      const [made] = await Promise.all([
        Promise.all(Array.from({ length: 8 }, () => newRun(two, agent, runner))),
        prune(one, account),
        prune(two, account),
      ]);
      for (const run of made) {
        const { body } = ok(await one.http('GET', `/agent_api/v1/runs/${run}`, { token: agent.token }));
        expect((body as { run: object }).run).toHaveProperty('tool_definitions');
        // the next round finds its declaration unused but for what is just being made
        await age(one, run, 91);
      }
    }
  }, 60_000);
});

describe('Beside a prune', () => {
  it('calls are accepted, claimed and committed as ever', async () => {
    const old = await oldRun(20_000);
    const run = await newRun(one, agent, runner);
    const doors = [restDoor(one, runner), restDoor(two, runner)] as const;
    let isPruning = true;
    const pruning = prune(one, account).finally(() => (isPruning = false));
    let calls = 0;
    const caller = async (index: number): Promise<void> => {
      while (isPruning) {
        const door = doors[index % 2] ?? doors[0];
        const task = await parked(two, agent, run, callStep('read'));
        const claim_token = await claimed(door, task);
        const result = { outcome: 'completed', content: 'fine' };
        expect(codeOf(await door.ask('commit', { ...task, claim_token, ...result }))).toBe('200');
        calls += 1;
      }
    };
    const [pruned] = await Promise.all([pruning, ...Array.from({ length: 6 }, (_, index) => caller(index))]);
    expect(pruned).toMatchObject({ tasks: 20_000 });
    expect(calls).toBeGreaterThan(5);
    expect(await runRow(one, old)).toMatchObject({ tasks: 0 });
    expect(await runRow(one, run)).toMatchObject({ tasks: calls, details_pruned_at: null });
  }, 60_000);

  it('a task that is gone before its node has heard of it is 410, not 404', async () => {
    const run = await newRun(one, agent, runner);
    const { task_key } = await parked(one, agent, run, callStep('read'));
    const path = `/agent_api/v1/runs/${run}/tasks/${task_key}`;
    ok(await one.http('GET', path, { token: agent.token }));
    // as another node prunes, without its event
    await one.db.pool.query('delete from tasks where run_id = $1', [run]);
    await one.db.pool.query(
      'update runs set details_pruned_at = now(), could_have_written = false where id = $1',
      [run],
    );
    expect(outcome(await one.http('GET', path, { token: agent.token }))).toBe('410 execution_details_pruned');
  });

  it('a prune that is cut short has already refused its runs, and another goes on with it', async () => {
    const run = await oldRun(1_500);
    const cut = new AbortController();
    const listening = one.app.get(NodeEvents).on('run', () => cut.abort());
    const accountId = await accountIdOf(one, account);
    const pruning = one.app.get(Pruning).prune(accountId, cut.signal);
    await expect(pruning).rejects.toMatchObject({ code: 'unavailable' });
    listening();
    expect(await runRow(one, run)).toMatchObject({ tasks: 1_500, details_pruned_at: expect.any(Date) });
    const path = `/agent_api/v1/runs/${run}`;
    expect(outcome(await two.http('GET', `${path}/tasks`, { token: agent.token }))).toBe(
      '410 execution_details_pruned',
    );
    const { body } = ok(await two.http('GET', path, { token: agent.token }));
    expect((body as { run: object }).run).toMatchObject({
      status: 'completed',
      runner_effects: { status: 'unavailable', reason: 'execution_details_pruned' },
    });
    expect(await prune(two, account)).toMatchObject({ runs: 0, tasks: 1_500 });
    expect(await runRow(one, run)).toMatchObject({ tasks: 0 });
  });
});

describe('The night', () => {
  const lastNight = (change: string): Promise<unknown> =>
    one.db.pool.query(`update retention_night set ${change}`);
  const look = (node: TestNode): Promise<void> => node.app.get(Nightly).look();

  it('prunes what is due, once and on one node, and forgets old keys and old audit entries', async () => {
    const human = await newHuman(one, account);
    const key = `night-${newId()}`;
    const create = { token: agent.token, body: {}, headers: { 'idempotency-key': key } };
    ok(await one.http('POST', '/agent_api/v1/runs', create));
    await one.db.pool.query(`update idempotency_keys set created_at = now() - interval '25 hours'`);
    await one.db.pool.query(
      `update audit_entries set at = now() - interval '401 days' where subject_id = $1`,
      [human.id],
    );
    const run = await oldRun();
    await Promise.all([look(one), look(two)]);
    expect(await isPruned(run)).toBe(false);
    await lastNight(`night = night - 1`);
    await Promise.all([look(one), look(two)]);
    expect(await isPruned(run)).toBe(true);
    const left = await one.db.pool.query(
      `select (select count(*) from idempotency_keys)::integer as keys,
         (select count(*) from audit_entries where subject_id = $1)::integer as entries,
         (select finished_at is not null from retention_night) as is_done`,
      [human.id],
    );
    expect(left.rows).toEqual([{ keys: 0, entries: 0, is_done: true }]);
    const later = await oldRun();
    await look(one);
    expect(await isPruned(later)).toBe(false);
  });

  it('is left to the node that holds the lease, and taken up when the lease has ended', async () => {
    const run = await oldRun();
    const holder = newId();
    await lastNight(
      `night = night - 1, holder = '${holder}', finished_at = null, leased_until = now() + interval '1 minute'`,
    );
    await Promise.all([look(one), look(two)]);
    expect(await isPruned(run)).toBe(false);
    expect(await one.db.row(renewLease, holder)).toBeDefined();
    await lastNight(`leased_until = now() - interval '1 second'`);
    await Promise.all([look(one), look(two)]);
    expect(await isPruned(run)).toBe(true);
    expect(await one.db.row(renewLease, holder)).toBeUndefined();
  });

  it('begins at NEXUS_PRUNE_HOUR by UTC', async () => {
    await expect(
      one.db.transaction(async (sql) => {
        for (let hour = 0; hour < 24; hour += 1) {
          await sql.rows({ name: 'night_forget', text: 'delete from retention_night' });
          const now = await sql.row<[], { at: Date }>({ name: 'night_now', text: 'select now() as at' });
          const { night } = (await sql.row(takeNight, hour, newId())) ?? {};
          const began = new Date(Number(now?.at) - hour * 3_600_000);
          expect([hour, night]).toEqual([hour, began.toISOString().slice(0, 10)]);
        }
        throw new Error('undone');
      }),
    ).rejects.toThrow('undone');
  });

  it.each(['24', '-1', '2.5', 'noon'])('does not start with NEXUS_PRUNE_HOUR=%s', (hour) => {
    expect(() => readEnv({ NEXUS_PRUNE_HOUR: hour })).toThrow(
      'NEXUS_PRUNE_HOUR must be an integer from 0 to 23',
    );
  });
});

describe('The statements of a prune', () => {
  const indexesOf = async (pool: KeyedDatabase['pool'], text: string): Promise<string[]> => {
    const { rows } = await pool.query<{ 'QUERY PLAN': string }>(`explain (generic_plan) ${text}`);
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).not.toMatch(/Seq Scan on (tasks|runs)/);
    return [...plan.matchAll(/using (\w+) on (?:tasks|runs)/g)].map(([, index]) => index ?? '');
  };

  it('find old runs by the index of what is not pruned, and tasks by their key', async () => {
    await addRuns(one, await oldRun(), 2_000, 1);
    await one.db.pool.query('analyze runs, tasks');
    expect(await indexesOf(one.db.pool, readOldRuns.text)).toContain('runs_unpruned');
    expect(new Set(await indexesOf(one.app.get(KeyedDatabase).pool, emptyRuns.text))).toEqual(
      new Set(['tasks_pkey']),
    );
  });
});
