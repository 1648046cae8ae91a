import { Injectable } from '@nestjs/common';
import { KeyedDatabase } from '../db/keyed-database.js';
import type { Lane } from '../db/lane.js';
import type { ExecutorCaller } from '../doors/caller.js';
import type { VerbInput } from '../doors/input.js';
import { Metrics } from '../doors/metrics.js';
import { refuse } from '../errors/refusal.js';
import { taskJson, type TaskRow } from '../routing/task-row.js';
import { type CommitJob, commitTasks } from './commit.sql.js';
import { readCommit, type ReadCommit } from './commit-job.js';
import { refusedReply, type ResultBody } from './delivery/reply-result.js';
import { diagnoseCommit } from './diagnose-commit.sql.js';
import { jobLane, settledAttempt } from './job-lane.js';
import { keepCheckpoint } from './keep-checkpoint.sql.js';
import { SettledTasks } from './settled-tasks.js';
import { claimTokenOf, jobsJson, taskClaim, type TaskClaim } from './task-claim.js';

/**
 * Commits (chapter 6, Commit). Invariant: a task is settled once; who holds its claim is answered that task from then on,
 * whatever they send. At the deadline the expiry rule has won, and the content is dropped.
 */
@Injectable()
export class Commits {
  private readonly lane: Lane<CommitJob, TaskRow | undefined>;

  constructor(
    private readonly database: KeyedDatabase,
    private readonly settled: SettledTasks,
    private readonly metrics: Metrics,
  ) {
    this.lane = jobLane(database, commitTasks, bytesOf);
  }

  /** `{task}`. Throws the refusals of chapter 6, Commit, in its order. */
  async commit(caller: ExecutorCaller, input: VerbInput): Promise<object> {
    const started = performance.now();
    const read = readCommit(taskClaim(caller, input, claimTokenOf(input)), input.body);
    const row = await settledAttempt(() => this.attempt(read));
    this.metrics.observe('commit', (performance.now() - started) / 1_000);
    return { task: taskJson(row) };
  }

  /**
   * Takes the reply of a delivered call as its result (chapter 8, Delivery); one that comes too late leaves its checkpoint.
   * What a commit would be refused for is an error of the call, since nobody is there to mend it.
   */
  async take(claim: TaskClaim, result: ResultBody): Promise<void> {
    const { job: asSent, fault } = readCommit(claim, result);
    const isRefused = fault !== undefined && fault.code !== 'result_unstorable';
    const { checkpoint } = asSent;
    const job = isRefused ? { ...readCommit(claim, refusedReply(fault.message)).job, checkpoint } : asSent;
    const settled = await this.lane.run(job);
    if (settled) this.settled.announce([settled]);
    else if (checkpoint !== null) await this.database.rows(keepCheckpoint, jobsJson([job]));
  }

  /** The final task; undefined when its state changed before the read that says why it was not settled. */
  private async attempt({ job, fault }: ReadCommit): Promise<TaskRow | undefined> {
    const settled = await this.lane.run(job);
    if (settled) {
      this.settled.announce([settled]);
      if (fault && settled.error_key === fault.code) throw refuse(fault.code, fault.message);
      return settled;
    }
    const found = await this.database.row(diagnoseCommit, jobsJson([job]));
    if (!found) throw refuse('not_found');
    if (found.refusal === null) return undefined;
    if (found.refusal === 'settled') {
      if (job.checkpoint !== null) await this.database.rows(keepCheckpoint, jobsJson([job]));
      return found;
    }
    if (found.refusal !== 'in_time') throw refuse(found.refusal);
    if (fault) throw refuse(fault.code, fault.message);
    return undefined;
  }
}

/** Of the texts that may be long. */
const bytesOf = ({ content, structured_content, metadata }: CommitJob): number =>
  (content?.length ?? 0) + (structured_content?.length ?? 0) + (metadata?.length ?? 0);
