import { Injectable } from '@nestjs/common';
import type { Sql } from '../db/statement.js';
import type { MemberCaller, PlatformCaller } from '../doors/caller.js';
import type { VerbInput } from '../doors/input.js';
import { refuse } from '../errors/refusal.js';
import { isTaskKey } from '../kernel/names.js';
import type { FrozenRun } from '../routing/frozen-run.js';
import { RunDirectory } from '../routing/run-directory.js';
import { viewerOf } from '../routing/viewer.js';
import { type AdjudicatedTask, readAdjudicated } from './same-target.sql.js';

/** How often, and after how long, a node looks again whose facts have changed before it acted: half a second in all. */
export const LOOKS = 25;
export const LOOK_AGAIN_MS = 20;

/** Finds the task that a verb of adjudication names, for those who may use the verb (chapter 6). Reads only. */
@Injectable()
export class AdjudicatedTasks {
  constructor(private readonly directory: RunDirectory) {}

  /** For whoever sees the run. Throws `not_found` and `execution_details_pruned`. */
  async seenBy(
    caller: MemberCaller | PlatformCaller,
    input: VerbInput,
  ): Promise<{ readonly run: FrozenRun; readonly key: string }> {
    const run = await this.directory.detailSeenBy(viewerOf(caller), input.field('run_public_id'));
    const key = input.field('task_key');
    if (!isTaskKey(key)) throw refuse('not_found');
    return { run, key };
  }

  /** For people only: the human whose run it is, the agent's steward, an administrator. Throws `person_required`. */
  async decidedBy(
    caller: MemberCaller | PlatformCaller,
    input: VerbInput,
  ): Promise<{ readonly run: FrozenRun; readonly key: string }> {
    const seen = await this.seenBy(caller, input);
    if (caller.plane === 'member' && caller.kind === 'agent') throw refuse('person_required');
    return seen;
  }

  /** The task with the facts that decide about it. Throws `not_found` and `execution_details_pruned`. */
  async read(sql: Sql, run: FrozenRun, key: string): Promise<AdjudicatedTask> {
    const task = await sql.row(readAdjudicated, run.accountId, run.id, key);
    if (!task) throw refuse('not_found');
    if (task.refusal !== null) throw refuse(task.refusal);
    return task;
  }
}
