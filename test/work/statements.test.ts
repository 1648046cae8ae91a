import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { AccountId } from '../../src/db/account-id.js';
import { KeyedDatabase } from '../../src/db/keyed-database.js';
import { newId } from '../../src/db/ids.js';
import type { Statement } from '../../src/db/statement.js';
import { type Expiring, expiryCells, expiryOf } from '../../src/kernel/expiry.js';
import { cancelTask } from '../../src/work/cancel.sql.js';
import { claimTasks } from '../../src/work/claim.sql.js';
import { readClaimStatus } from '../../src/work/claim-status.sql.js';
import { type CommitJob, commitTasks } from '../../src/work/commit.sql.js';
import { decideTask, expireResting } from '../../src/work/decide.sql.js';
import { deliverWaiting } from '../../src/work/delivery/deliver-waiting.sql.js';
import { releaseCalls } from '../../src/work/delivery/release.sql.js';
import { readRemaining } from '../../src/work/delivery/remaining-time.sql.js';
import { readWaitingExecutors } from '../../src/work/delivery/waiting-executors.sql.js';
import { diagnoseClaim } from '../../src/work/diagnose-claim.sql.js';
import { diagnoseCommit } from '../../src/work/diagnose-commit.sql.js';
import { expiredErrorDetail, expiredErrorKey, expiredStatus } from '../../src/work/expiry.sql.js';
import { diagnoseExtend, extendTask } from '../../src/work/extend.sql.js';
import { readInbox } from '../../src/work/inbox.sql.js';
import { jobLane } from '../../src/work/job-lane.js';
import { keepCheckpoint } from '../../src/work/keep-checkpoint.sql.js';
import { retryTask } from '../../src/work/retry.sql.js';
import { settleUnserved } from '../../src/work/settle-unserved.sql.js';
import { sweepDue } from '../../src/work/sweep.sql.js';
import { claimOn } from '../../src/work/task-claim.js';
import { accept, callStep } from '../routing/stage.js';
import {
  announce,
  firstAccount,
  newAgent,
  newRun,
  newRunner,
  ok,
  type TestExecutor,
  type TestMember,
  tool,
} from '../support/factories.js';
import { TestNode } from '../support/node.js';
import { claimed, newToken, restDoor, type TaskName } from './stage.js';

let node: TestNode;
let keyed: KeyedDatabase;
let agent: TestMember;
let runner: TestExecutor;
let run: string;
let accountId: AccountId;

beforeAll(async () => {
  node = await TestNode.start();
  keyed = node.app.get(KeyedDatabase);
  const account = await firstAccount(node);
  agent = await newAgent(node, account, { approval_floor: 'bypass' });
  runner = await newRunner(node, account);
  await announce(node, runner, [tool('read')]);
  run = await newRun(node, agent, runner);
  const { rows } = await node.db.pool.query<{ id: AccountId }>(`select id from accounts`);
  accountId = rows[0]?.id as AccountId;
});

afterAll(() => node?.close());

async function park(count: number): Promise<TaskName[]> {
  const steps = Array.from({ length: count }, () => callStep('read'));
  return (ok(await accept(node, agent, run, steps)).body as { tasks: TaskName[] }).tasks;
}

describe('the expiry rule in SQL', () => {
  it('is that of the kernel in every cell', async () => {
    const cells = expiryCells();
    const { rows } = await node.db.pool.query<Record<'status' | 'error_key' | 'error_detail', string | null>>(
      `select ${expiredStatus('t')} as status, ${expiredErrorKey('t')} as error_key,
         ${expiredErrorDetail('t')} as error_detail
       from json_to_recordset($1::json) as t (place integer, status text, claimed_by uuid, effect_profile json)
       order by place`,
      [
        JSON.stringify(
          cells.map(({ kind, claimed: isClaimed, effect_profile }, place) => ({
            place,
            status: kind === 'approval' ? 'needs_approval' : 'dispatched',
            claimed_by: isClaimed ? newId() : null,
            effect_profile,
          })),
        ),
      ],
    );
    expect(cells.length).toBeGreaterThan(0);
    expect(rows).toEqual(cells.map(settled));
  });

  function settled(cell: Expiring): object {
    const { status, error_key, error_detail = null } = expiryOf(cell);
    return { status, error_key, error_detail };
  }
});

describe('a plan', () => {
  /** Every node of a plan that reads a table, and by which index; `Subquery Scan` and its like read none. */
  async function reads({ text }: Pick<Statement<readonly unknown[], unknown>, 'text'>): Promise<Scan[]> {
    const { rows } = await keyed.pool.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
      `explain (generic_plan, format json) ${text}`,
    );
    return scansOf((rows[0] as { 'QUERY PLAN': [{ Plan: PlanNode }] })['QUERY PLAN'][0].Plan);
  }

  const BY_KEY = {
    cancelTask,
    claimTasks,
    commitTasks,
    decideTask,
    diagnoseClaim,
    diagnoseCommit,
    diagnoseExtend,
    expireResting,
    extendTask,
    keepCheckpoint,
    readClaimStatus,
    readRemaining,
    releaseCalls,
    retryTask,
    settleUnserved,
  } as const;

  describe.each([
    ['that nobody analysed', () => Promise.resolve()],
    [
      'that was analysed while it was empty',
      async () => {
        await node.db.pool.query(`delete from tasks`);
        await node.db.pool.query(`vacuum (analyze) tasks`);
      },
    ],
    [
      'that was analysed while it was small',
      async () => {
        await park(8);
        await node.db.pool.query(`analyze tasks`);
      },
    ],
    [
      'full of dead rows',
      async () => {
        const door = restDoor(node, runner);
        for (const task of await park(64)) {
          await door.ask('commit', { ...task, claim_token: await claimed(door, task) });
        }
        await node.db.pool.query(`analyze tasks`);
      },
    ],
  ])('on a table %s', (_, prepare) => {
    beforeAll(prepare);

    it.each(Object.keys(BY_KEY) as (keyof typeof BY_KEY)[])(
      'of %s finds tasks by the primary key alone',
      async (name) => {
        const scans = await reads(BY_KEY[name]);
        const ofTasks = scans.filter(({ table }) => table === 'tasks');
        expect(ofTasks.length).toBeGreaterThan(0);
        expect(new Set(ofTasks.map(({ index }) => index))).toEqual(new Set(['tasks_pkey']));
        expect(scans.filter(({ index }) => index === undefined)).toEqual([]);
      },
    );

    it('of the sweep walks what is due, and nothing else', async () => {
      const ofTasks = (await reads(sweepDue)).filter(({ table }) => table === 'tasks');
      expect(ofTasks.map(({ index }) => index).sort()).toEqual(['tasks_due', 'tasks_pkey']);
    });

    it('of a redelivery walks the executor’s part of the inbox', async () => {
      const scans = await reads(deliverWaiting);
      const ofTasks = scans.filter(({ table }) => table === 'tasks');
      expect(ofTasks.map(({ index }) => index).sort()).toEqual(['tasks_inbox', 'tasks_pkey', 'tasks_pkey']);
      expect(scans.filter(({ index }) => index === undefined)).toEqual([]);
    });

    it('of the search for waiting calls looks at those who serve, one after the other', async () => {
      const indexes = (await reads(readWaitingExecutors)).map(({ table, index }) => `${table} ${index}`);
      expect(indexes.sort()).toEqual([
        'announcements announcements_serving',
        'executors executors_pkey',
        'tasks tasks_inbox',
      ]);
    });

    it('of the inbox walks each part in order', async () => {
      const indexes = (await reads(readInbox))
        .filter(({ table }) => table === 'tasks')
        .map(({ index }) => index);
      expect(indexes.sort()).toEqual([
        'tasks_inbox',
        'tasks_pkey',
        'tasks_pool',
        'tasks_pool_claimed',
        'tasks_resting',
      ]);
    });
  });
});

describe('a lane', () => {
  const commitOf = ({ run_public_id, task_key }: TaskName, token: string, fields: object = {}): CommitJob => {
    const caller = { accountId, executorId: runner.id, epoch: 1 } as Parameters<typeof claimOn>[0];
    return {
      ...claimOn(caller, run_public_id, task_key, token),
      only_late: false,
      outcome: 'completed',
      error_key: null,
      error_detail: null,
      content: '"fine"',
      structured_content: null,
      is_error: false,
      title: null,
      metadata: null,
      checkpoint: null,
      ...fields,
    };
  };

  it('one row that PostgreSQL refuses never fails its neighbours', async () => {
    const tasks = await park(16);
    const door = restDoor(node, runner);
    const lane = jobLane(keyed, commitTasks);
    const jobs = await Promise.all(
      tasks.map(async (task, index) =>
        commitOf(task, await claimed(door, task), index === 7 ? { content: '{broken' } : {}),
      ),
    );
    const outcomes = await Promise.allSettled(jobs.map((job) => lane.run(job)));
    const statuses = outcomes.map((each) =>
      each.status === 'fulfilled' ? each.value?.status : (each.reason as { code: string }).code,
    );
    expect(statuses).toEqual(tasks.map((_, index) => (index === 7 ? '22P02' : 'completed')));
  });

  it('jobs on one task that come together act one after the other', async () => {
    const [task] = (await park(1)) as [TaskName];
    const token = await claimed(restDoor(node, runner), task);
    const lane = jobLane(keyed, commitTasks);
    const rows = await Promise.all(
      ['"one"', '"two"', '"three"'].map((content) => lane.run(commitOf(task, token, { content }))),
    );
    expect(rows.map((row) => row?.content_text)).toEqual(['"one"', undefined, undefined]);
  });

  it('a job whose task is not there answers nothing, and its neighbours act', async () => {
    const [task] = (await park(1)) as [TaskName];
    const token = await claimed(restDoor(node, runner), task);
    const lane = jobLane(keyed, commitTasks);
    const strange = { run_public_id: newId(), task_key: 'none' };
    const rows = await Promise.all([
      lane.run(commitOf(strange, newToken())),
      lane.run(commitOf(task, token)),
    ]);
    expect(rows.map((row) => row?.status)).toEqual([undefined, 'completed']);
  });
});

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly Operation?: string;
  readonly Plans?: readonly PlanNode[];
}

interface Scan {
  readonly table: string;
  readonly index: string | undefined;
}

function scansOf(plan: PlanNode): Scan[] {
  const table = plan['Relation Name'];
  const below = (plan.Plans ?? []).flatMap(scansOf);
  return table === undefined || plan.Operation ? below : [{ table, index: plan['Index Name'] }, ...below];
}
