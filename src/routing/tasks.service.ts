import { Injectable } from '@nestjs/common';
import { Database } from '../db/database.js';
import { KeyedDatabase } from '../db/keyed-database.js';
import { Lane } from '../db/lane.js';
import { Answer } from '../doors/answer.js';
import type { MemberCaller } from '../doors/caller.js';
import { hasIdempotencyKey, Idempotency } from '../doors/idempotency.js';
import type { VerbInput } from '../doors/input.js';
import { pageRequest, paginationOf } from '../doors/page.js';
import type { VerbDeclaration } from '../doors/verb.js';
import { refuse } from '../errors/refusal.js';
import { memberTexts } from '../kernel/json/scan.js';
import { isTaskKey } from '../kernel/names.js';
import { Acceptance } from './acceptance.service.js';
import type { FrozenRun } from './frozen-run.js';
import { readTaskPage, readTasks, type TaskRead } from './read-tasks.sql.js';
import { RunDirectory } from './run-directory.js';
import { readSteps } from './step.js';
import { taskJson, type TaskRow } from './task-row.js';
import { TaskWaits } from './task-waits.js';
import { type Viewer, viewerOf } from './viewer.js';
import { waitMsOf } from './wait-request.js';

/** Accepts tasks on a run and shows them to those who see the run (chapter 5). */
@Injectable()
export class Tasks {
  private readonly reads: Lane<TaskRead, TaskRow | undefined>;

  constructor(
    private readonly database: Database,
    private readonly keyed: KeyedDatabase,
    private readonly idempotency: Idempotency,
    private readonly directory: RunDirectory,
    private readonly acceptance: Acceptance,
    private readonly waits: TaskWaits,
  ) {
    let reads = 0;
    this.reads = new Lane({
      name: readTasks.name,
      // reads of one task may be under way together
      keyOf: () => String((reads += 1)),
      flush: async (asked) => {
        const rows = new Array<TaskRow | undefined>(asked.length).fill(undefined);
        const list = JSON.stringify(asked.map((read, ordinal) => ({ ...read, ordinal })));
        for (const row of await keyed.rows(readTasks, list)) rows[row.ordinal] = row;
        return rows;
      },
    });
  }

  /** `{tasks}` in the order of the steps: all of them, or a refusal. */
  async accept(verb: VerbDeclaration, caller: MemberCaller, input: VerbInput): Promise<Answer> {
    const { steps } = input.body.object;
    if (steps === undefined) throw refuse('parameter_missing', 'steps is required');
    const parsed = readSteps(steps, memberTexts(input.body.text).get('steps') ?? '[]');
    const run = await this.directory.detailSeenBy(viewerOf(caller), input.field('run_public_id'));
    // one statement is its own transaction: without a key to remember there is nothing to bind it to
    if (!hasIdempotencyKey(input)) {
      const tasks = await this.acceptance.accept(this.keyed, caller, run, parsed);
      this.acceptance.announce(tasks);
      return new Answer({ tasks: tasks.map(taskJson) }, 201);
    }
    let tasks: TaskRow[] = [];
    const answer = await this.idempotency.once(verb, caller, input, async (sql) => {
      tasks = await this.acceptance.accept(sql, caller, run, parsed);
      return new Answer({ tasks: tasks.map(taskJson) }, 201);
    });
    this.acceptance.announce(tasks);
    return answer;
  }

  /** `{task}`; with `wait_ms` when it is settled, or when the wait ends. */
  async one(viewer: Viewer, input: VerbInput): Promise<object> {
    const run = await this.directory.detailSeenBy(viewer, input.field('run_public_id'));
    const key = input.field('task_key');
    if (!isTaskKey(key)) throw refuse('not_found');
    return { task: taskJson(await this.settled(run, key, waitMsOf(input, 0))) };
  }

  /** The task when it is settled, or as it is after `waitMs`; `known` is its row where it was just accepted. */
  settled(
    run: Pick<FrozenRun, 'accountId' | 'id'>,
    key: string,
    waitMs: number,
    known?: TaskRow,
  ): Promise<TaskRow> {
    const read = async (): Promise<TaskRow> => {
      const row = await this.reads.run({ account_id: run.accountId, run_id: run.id, task_key: key });
      return row ?? this.directory.refuseMissingTask(run.id);
    };
    return this.waits.untilFinal(run.id, key, waitMs, read, known);
  }

  /** `{tasks, pagination}`, in order of acceptance. */
  async page(viewer: Viewer, input: VerbInput): Promise<object> {
    const run = await this.directory.detailSeenBy(viewer, input.field('run_public_id'));
    const { limit, after = '0' } = pageRequest(input, isSequence);
    const rows = await this.database.rows(readTaskPage, run.accountId, run.id, after, limit + 1);
    const last = rows.at(-1);
    return { tasks: rows.map(taskJson), pagination: paginationOf(last?.seq, last?.has_more ?? false) };
  }
}

const isSequence = (key: unknown): key is string => typeof key === 'string' && /^\d{1,18}$/.test(key);
