import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { secondAccount } from '../discovery/second-account.js';
import { accept, callStep, outcome } from '../routing/stage.js';
import {
  announce,
  firstAccount,
  newAgent,
  newRun,
  newRunner,
  ok,
  type TestAccount,
  type TestExecutor,
  type TestMember,
  tool,
  withToken,
  WRITE,
} from '../support/factories.js';
import { type HttpAnswer, TestNode } from '../support/node.js';
import { busDoor, claimed, codeOf, newToken, parked, restDoor, type TaskName } from '../work/stage.js';
import { addRuns, age, prune, runRow, setRetention } from './stage.js';

let one: TestNode;
let two: TestNode;
let account: TestAccount;
let agent: TestMember;
let admin: TestMember;
let runner: TestExecutor;

const TOOLS = [tool('read'), tool('write', { effect_profile: WRITE })];

beforeAll(async () => {
  one = await TestNode.start();
  two = await TestNode.start({}, one);
  account = await firstAccount(one);
  agent = await newAgent(one, account, { approval_floor: 'bypass' });
  admin = await withToken(one, account, account.adminId);
  runner = await newRunner(one, account);
  await announce(one, runner, TOOLS);
});

afterAll(async () => {
  await two?.close();
  await one?.close();
});

beforeEach(async () => {
  ok(await setRetention(one, account, 90));
});

const get = (node: TestNode, path: string): Promise<HttpAnswer> =>
  node.http('GET', `/agent_api/v1${path}`, { token: agent.token });

async function overview(node: TestNode, run: string): Promise<Record<string, unknown>> {
  return (ok(await get(node, `/runs/${run}`)).body as { run: Record<string, unknown> }).run;
}

/** One call of `name` on the run, claimed and committed. */
async function done(run: string, name = 'read', result: object = {}): Promise<TaskName> {
  const door = restDoor(one, runner);
  const task = await parked(one, agent, run, callStep(name, { input: { secret: 'tell nobody' } }));
  const claim_token = await claimed(door, task);
  const answer = await door.ask('commit', {
    ...task,
    claim_token,
    outcome: 'completed',
    content: 'out',
    ...result,
  });
  expect(codeOf(answer)).toBe('200');
  return task;
}

/** A run whose only call was done, `days` ago. */
async function oldRun(days: number, name = 'read', fields: object = {}): Promise<string> {
  const run = await newRun(one, agent, runner, fields);
  await done(run, name);
  await age(one, run, days);
  return run;
}

const isPruned = async (run: string): Promise<boolean> =>
  (await runRow(one, run))['details_pruned_at'] !== null;

describe('execution_details_retention_days', () => {
  it.each([0, -1, 1.5, 'x', '90', true, [], {}, 2 ** 31])('refuses %j', async (days) => {
    expect(outcome(await setRetention(one, account, days))).toBe('422 validation_failed');
  });

  it('null keeps for ever', async () => {
    const run = await oldRun(4_000);
    ok(await setRetention(one, account, null));
    expect(await prune(one, account)).toMatchObject({ runs: 0, tasks: 0 });
    expect(await isPruned(run)).toBe(false);
    ok(await setRetention(one, account, 90));
    await prune(one, account);
    expect(await isPruned(run)).toBe(true);
  });

  it('may be longer than PostgreSQL counts days', async () => {
    ok(await setRetention(one, account, 2_147_483_647));
    expect(await prune(one, account)).toMatchObject({ runs: 0, tasks: 0 });
  });

  it('brings nothing back when it is raised', async () => {
    const run = await oldRun(91);
    await prune(one, account);
    ok(await setRetention(one, account, 365));
    await prune(one, account);
    expect(await runRow(one, run)).toMatchObject({ tasks: 0, details_pruned_at: expect.any(Date) });
    expect(outcome(await get(one, `/runs/${run}/tasks`))).toBe('410 execution_details_pruned');
  });

  it('is each account’s own', async () => {
    const other = await secondAccount(one);
    ok(await setRetention(one, other, 1));
    const run = await oldRun(50);
    await prune(one, other);
    expect(await isPruned(run)).toBe(false);
  });
});

describe('A run is due', () => {
  it('once all of its tasks have been final for the retention', async () => {
    const [older, younger] = [await oldRun(91), await oldRun(89)];
    await prune(one, account);
    expect([await isPruned(older), await isPruned(younger)]).toEqual([true, false]);
  });

  it('never while it is open, however old it is', async () => {
    const run = await oldRun(400);
    await parked(one, agent, run, callStep('read'));
    await prune(one, account);
    expect(await isPruned(run)).toBe(false);
  });

  it('counted from the task that settled last, not from its creation', async () => {
    const run = await oldRun(400);
    await done(run);
    await prune(one, account);
    expect(await isPruned(run)).toBe(false);
    await age(one, run, 90);
    await prune(one, account);
    expect(await isPruned(run)).toBe(true);
  });

  it('counted from its creation where it never had a task', async () => {
    const [older, younger] = [await newRun(one, agent, runner), await newRun(one, agent, runner)];
    await age(one, older, 91);
    await age(one, younger, 89);
    await prune(one, account);
    expect([await isPruned(older), await isPruned(younger)]).toEqual([true, false]);
    expect(await overview(one, older)).toMatchObject({ status: 'open', completed_at: null });
  });

  it('when it was stopped, as when it was completed', async () => {
    const run = await newRun(one, agent, runner);
    await parked(one, agent, run, callStep('read'));
    const stopped = ok(await one.http('POST', `/agent_api/v1/runs/${run}/stop`, { token: agent.token }));
    expect(stopped.status).toBe(200);
    await age(one, run, 91);
    await prune(one, account);
    expect(await overview(one, run)).toMatchObject({
      status: 'stopped',
      completed_at: expect.any(String),
      details_pruned_at: expect.any(String),
    });
  });
});

describe('A pruned run', () => {
  it('keeps id, status, principal and times, and loses its tasks and its declaration', async () => {
    const configuration = { runner_executor_public_ids: [runner.id], runner_tool_names: ['write'] };
    const run = await oldRun(91, 'write', { configuration });
    const { rows } = await one.db.pool.query<{ declaration_digest: Buffer }>(
      'select declaration_digest from runs where id = $1',
      [run],
    );
    const before = await overview(one, run);
    const counts = await prune(one, account);
    expect(counts).toEqual({ runs: 1, tasks: 1, declarations: expect.any(Number) });
    expect(counts.declarations).toBeGreaterThanOrEqual(1);
    const after = await overview(two, run);
    const { tool_definitions: _definitions, environment: _environment, ...kept } = before;
    expect(after).toEqual({
      ...kept,
      details_pruned_at: expect.any(String),
      runner_effects: { status: 'unavailable', runners: [], reason: 'execution_details_pruned' },
    });
    expect(after).toMatchObject({ status: 'completed', completed_at: expect.any(String) });
    expect(await runRow(one, run)).toMatchObject({
      tasks: 0,
      could_have_written: true,
      declaration_digest: null,
    });
    const gone = await one.db.pool.query('select from declarations where digest = $1', [
      rows[0]?.declaration_digest,
    ]);
    expect(gone.rowCount).toBe(0);
  });

  it('keeps one boolean, whether it could have written', async () => {
    const unclaimed = await newRun(one, agent, runner);
    await parked(one, agent, unclaimed, callStep('write'));
    ok(await one.http('POST', `/agent_api/v1/runs/${unclaimed}/stop`, { token: agent.token }));
    await age(one, unclaimed, 91);
    const [wrote, read] = [await oldRun(91, 'write'), await oldRun(91, 'read')];
    await prune(one, account);
    const written = async (run: string): Promise<unknown> => (await runRow(one, run))['could_have_written'];
    expect([await written(wrote), await written(read), await written(unclaimed)]).toEqual([
      true,
      false,
      false,
    ]);
  });

  it('leaves a declaration to the runs that share it', async () => {
    const [older, younger] = [await oldRun(91), await oldRun(1)];
    await prune(one, account);
    expect(await isPruned(older)).toBe(true);
    const { body } = ok(await get(two, `/runs/${younger}`));
    expect((body as { run: object }).run).toHaveProperty('tool_definitions');
    ok(await accept(two, agent, younger, [callStep('read')]));
  });

  it('is shown in lists as by itself', async () => {
    const run = await oldRun(91);
    await prune(one, account);
    const { runs } = ok(await get(one, '/runs?limit=200')).body as { runs: { public_id: string }[] };
    expect(runs.find(({ public_id }) => public_id === run)).toEqual(await overview(one, run));
  });

  describe('answers 410 execution_details_pruned, at once and on every node,', () => {
    let run: string;
    let task: TaskName;

    beforeAll(async () => {
      run = await newRun(one, agent, runner);
      task = await done(run, 'write');
      await age(one, run, 91);
      // both nodes have it in memory as it was
      await overview(one, run);
      ok(await get(two, `/runs/${run}/tasks/${task.task_key}`));
      await prune(one, account);
    });

    const PRUNED = '410 execution_details_pruned';

    it.each(['first', 'second'] as const)('to whoever reads its tasks on the %s node', async (which) => {
      const node = which === 'first' ? one : two;
      const paths = [`/runs/${run}/tasks`, `/runs/${run}/tasks/${task.task_key}`, `/runs/${run}/events`];
      for (const path of paths) expect([path, outcome(await get(node, path))]).toEqual([path, PRUNED]);
      const platform = `/platform_api/v1/runs/${run}/tasks`;
      const asAdmin = await node.http('GET', platform, { token: account.platformToken });
      expect(outcome(asAdmin)).toBe(PRUNED);
    });

    it('to a step, a stop, a call and a continuation', async () => {
      expect(outcome(await accept(two, agent, run, [callStep('read')]))).toBe(PRUNED);
      for (const node of [one, two]) {
        const stop = await node.http('POST', `/agent_api/v1/runs/${run}/stop`, { token: agent.token });
        expect(outcome(stop)).toBe(PRUNED);
        const child = await node.http('POST', '/agent_api/v1/runs', {
          token: agent.token,
          body: { parent_run_public_id: run },
        });
        expect(outcome(child)).toBe(PRUNED);
      }
    });

    it.each(['REST', 'bus'] as const)('to every verb of its executor on %s', async (name) => {
      const door = name === 'REST' ? restDoor(two, runner) : await busDoor(runner);
      const claim_token = newToken();
      const verbs = {
        claim: { claim_token },
        claim_status: { claim_token },
        extend: { claim_token, timeout_ms: 1_000 },
        commit: { claim_token, outcome: 'completed', content: 'late' },
        progress: { frame: { ...task, claim_token, text_tail: 'more' } },
      } as const;
      for (const [verb, fields] of Object.entries(verbs)) {
        const answer = await door.ask(verb as keyof typeof verbs, { ...task, ...fields });
        expect([verb, codeOf(answer)]).toEqual([verb, PRUNED]);
      }
      await door.close();
    });
  });

  it('is unavailable evidence in its conversation where it could have written, and no gap where not', async () => {
    const { body } = ok(
      await one.http('POST', '/agent_api/v1/conversations', { token: agent.token, body: {} }),
    );
    const within = (body as { conversation: { public_id: string } }).conversation.public_id;
    const fields = { conversation_public_id: within };
    const read = await oldRun(200, 'read', fields);
    const wrote = await oldRun(95, 'write', fields);
    const fresh = await newRun(one, agent, runner, fields);
    await done(fresh, 'write', { metadata: { checkpoint: { tree: 1 } } });
    const effects = async (): Promise<unknown> =>
      (
        ok(await get(two, `/conversations/${within}/runner_effects?from_run=${read}`)).body as {
          runner_effects: unknown;
        }
      ).runner_effects;
    ok(await setRetention(one, account, 100));
    await prune(one, account);
    expect([await isPruned(read), await isPruned(wrote)]).toEqual([true, false]);
    expect(await effects()).toMatchObject({ status: 'touched', runners: [{ run_public_id: wrote }] });
    ok(await setRetention(one, account, 90));
    await prune(one, account);
    expect(await effects()).toMatchObject({
      status: 'unavailable',
      reason: 'execution_details_pruned',
      runners: [{ run_public_id: fresh, checkpoint: { tree: 1 } }],
    });
  });
});

describe('POST /platform_api/v1/retention/prune', () => {
  it('is the platform’s: members and executors may not', async () => {
    for (const { token } of [agent, admin, runner]) {
      const answer = await one.http('POST', '/platform_api/v1/retention/prune', { token });
      expect(answer.status).toBe(401);
    }
  });

  it('goes on through more runs than one transaction takes, and answers how many', async () => {
    const like = await oldRun(91);
    const runs = await addRuns(one, like, 1_234, 92);
    expect(await prune(two, account)).toMatchObject({ runs: runs.length + 1, tasks: runs.length + 1 });
    const { rows } = await one.db.pool.query<{ left: number }>(
      'select count(*)::integer as left from runs where id = any ($1) and details_pruned_at is null',
      [runs],
    );
    expect(rows).toEqual([{ left: 0 }]);
    expect(await prune(one, account)).toEqual({ runs: 0, tasks: 0, declarations: 0 });
  });

  it('is written into the audit, with its counts and nothing of what it deleted', async () => {
    await oldRun(91);
    const pruned = await prune(one, account);
    const { body } = ok(
      await one.http('GET', '/platform_api/v1/audit?limit=1', { token: account.platformToken }),
    );
    expect((body as { entries: unknown[] }).entries).toEqual([
      expect.objectContaining({
        action: 'retention.pruned',
        actor_public_id: account.adminId,
        detail: pruned,
      }),
    ]);
  });
});
