import { Injectable } from '@nestjs/common';
import { Database } from '../db/database.js';
import type { MemberCaller } from '../doors/caller.js';
import type { VerbInput } from '../doors/input.js';
import { refuse } from '../errors/refusal.js';
import { isFinal } from '../kernel/task-status.js';
import { Dispatch } from '../routing/dispatch.js';
import type { FrozenRun } from '../routing/frozen-run.js';
import { taskJson, type TaskRow } from '../routing/task-row.js';
import { AdjudicatedTasks } from './adjudicated-tasks.js';
import { cancelTask } from './cancel.sql.js';
import { settledAttempt } from './job-lane.js';
import { SettledTasks } from './settled-tasks.js';

/** Calls single tasks off (chapter 6, Adjudication), and tells their claimant. */
@Injectable()
export class Cancellations {
  constructor(
    private readonly database: Database,
    private readonly tasks: AdjudicatedTasks,
    private readonly settled: SettledTasks,
    private readonly dispatch: Dispatch,
  ) {}

  /** `{task}`, canceled. Throws `already_terminal`. */
  async cancel(caller: MemberCaller, input: VerbInput): Promise<object> {
    const { run, key } = await this.tasks.seenBy(caller, input);
    const row = await settledAttempt(() => this.attempt(run, key));
    this.settled.announce([row]);
    this.dispatch.canceled(row);
    return { task: taskJson(row) };
  }

  /** The canceled task; undefined when it was opened again before the read that says why it was not canceled. */
  private async attempt(run: FrozenRun, key: string): Promise<TaskRow | undefined> {
    const canceled = await this.database.row(cancelTask, run.accountId, run.id, key);
    if (canceled) return canceled;
    const { status } = await this.tasks.read(this.database, run, key);
    if (isFinal(status)) throw refuse('already_terminal');
    return undefined;
  }
}
