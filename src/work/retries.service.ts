import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { Sql } from '../db/statement.js';
import { Answer } from '../doors/answer.js';
import type { MemberCaller } from '../doors/caller.js';
import { Idempotency } from '../doors/idempotency.js';
import type { VerbInput } from '../doors/input.js';
import type { VerbDeclaration } from '../doors/verb.js';
import { refuse, refuseUntil } from '../errors/refusal.js';
import { Acceptance } from '../routing/acceptance.service.js';
import type { FrozenRun } from '../routing/frozen-run.js';
import { taskJson, type TaskRow } from '../routing/task-row.js';
import { AdjudicatedTasks, LOOK_AGAIN_MS, LOOKS } from './adjudicated-tasks.js';
import { judgedCall } from './decisions.service.js';
import { type RetryJob, retryTask } from './retry.sql.js';
import { isRetryable } from './retryable.js';
import { SameTarget } from './same-target.js';
import { retryVerdict } from './verdict.js';

/**
 * Retries (chapter 6, Adjudication). Invariant: a retry is a new generation of the same task at the same target, through the
 * approval stage of what that announces now; nothing is ever tried again by itself.
 */
@Injectable()
export class Retries {
  constructor(
    private readonly idempotency: Idempotency,
    private readonly tasks: AdjudicatedTasks,
    private readonly target: SameTarget,
    private readonly acceptance: Acceptance,
  ) {}

  /** `{task}`: on its way, resting, or failed again where its target is gone or a rule denies it. */
  async retry(verb: VerbDeclaration, caller: MemberCaller, input: VerbInput): Promise<Answer> {
    const { run, key } = await this.tasks.seenBy(caller, input);
    let retried: TaskRow[] = [];
    const answer = await this.idempotency.once(verb, caller, input, async (sql) => {
      const row = await this.begin(sql, caller, run, key);
      retried = [row];
      return new Answer({ task: taskJson(row) });
    });
    this.acceptance.announce(retried);
    return answer;
  }

  /** The new generation. Throws `not_retryable`, `run_stopped`, and `person_required` for an operator capability. */
  private async begin(sql: Sql, caller: MemberCaller, run: FrozenRun, key: string): Promise<TaskRow> {
    const context = await this.target.contextOf(sql, run, caller);
    for (let look = 1; look <= LOOKS; look += 1) {
      const task = await this.tasks.read(sql, run, key);
      if (!isRetryable(task.status)) throw refuse('not_retryable');
      if (task.is_stopped) throw refuse('run_stopped');
      const found = await this.target.find(task, caller.kind);
      if (found !== undefined) {
        const { account_id, run_id, task_key, generation, serving } = { ...task, account_id: run.accountId };
        const named = { account_id, run_id, task_key, generation, serving };
        const verdict = retryVerdict(judgedCall(task), found, context);
        const job: RetryJob = { ...named, ...verdict, of_agent: caller.kind === 'agent' };
        const row = await sql.row(retryTask, JSON.stringify([job]));
        if (row) return row;
      }
      await pause(LOOK_AGAIN_MS);
    }
    throw refuseUntil('unavailable', 1, 'what the target announces is being replaced; try again');
  }
}
