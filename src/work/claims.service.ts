import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { KeyedDatabase } from '../db/keyed-database.js';
import type { Lane } from '../db/lane.js';
import type { ExecutorCaller } from '../doors/caller.js';
import type { VerbInput } from '../doors/input.js';
import { Metrics } from '../doors/metrics.js';
import { refuse, refuseClaim, Refusal } from '../errors/refusal.js';
import { CLAIM_TOKEN, isClaimToken } from '../kernel/names.js';
import { TaskEvents } from '../routing/task-events.js';
import { taskJson, type TaskRow } from '../routing/task-row.js';
import { claimTasks } from './claim.sql.js';
import { diagnoseClaim } from './diagnose-claim.sql.js';
import { jobLane, settledAttempt } from './job-lane.js';
import { SettledTasks } from './settled-tasks.js';
import { settleUnserved } from './settle-unserved.sql.js';
import { jobsJson, taskClaim, type TaskClaim } from './task-claim.js';

interface ClaimJob extends TaskClaim {
  /** The caller takes from a pool. */
  readonly is_pool: boolean;
}

/**
 * Claims (chapter 6, Claim). Invariant: a generation of a task is claimed at most once, by an executor that was addressed,
 * eligible and serving in the very statement; whoever brings that claim's token again is answered the same claim.
 */
@Injectable()
export class Claims {
  private readonly lane: Lane<ClaimJob, TaskRow | undefined>;

  constructor(
    private readonly database: KeyedDatabase,
    private readonly events: TaskEvents,
    private readonly settled: SettledTasks,
    private readonly metrics: Metrics,
  ) {
    this.lane = jobLane(database, claimTasks);
  }

  /** `{task, claim: {claim_token, deadline_at}}`. Throws the refusals of chapter 6, Claim, in its order. */
  async claim(caller: ExecutorCaller, input: VerbInput): Promise<object> {
    const token = broughtToken(input) ?? randomBytes(32).toString('base64url');
    const job = { ...taskClaim(caller, input, token), is_pool: caller.kind === 'tool_provider' };
    const started = performance.now();
    try {
      const row = await settledAttempt(() => this.attempt(job));
      this.metrics.claimed('claimed');
      return claimJson(row, token);
    } catch (fault) {
      if (fault instanceof Refusal) this.metrics.claimed(fault.code);
      throw fault;
    } finally {
      this.metrics.observe('claim', (performance.now() - started) / 1_000);
    }
  }

  /** The claimed task; undefined when its state changed before the read that says why it was not claimed. */
  private async attempt(job: ClaimJob): Promise<TaskRow | undefined> {
    const claimed = await this.lane.run(job);
    if (claimed) {
      this.metrics.observe('deliver', secondsBetween(claimed.accepted_at, claimed.claimed_at));
      this.events.changed(claimed);
      return claimed;
    }
    const found = await this.database.row(diagnoseClaim, jobsJson([job]));
    if (!found) throw refuse('not_found');
    if (found.refusal === null) return undefined;
    if (found.refusal === 'claimed') return found;
    if (found.refusal === 'tool_not_served' && found.status === 'dispatched') {
      const unserved = await this.database.row(settleUnserved, jobsJson([job]));
      if (!unserved) return undefined;
      this.settled.announce([unserved]);
    }
    throw refuseClaim(found.refusal);
  }
}

/** The answer of a claim and of an extension (chapter 6). */
export const claimJson = (row: TaskRow, token: string): object => ({
  task: taskJson(row),
  claim: { claim_token: token, deadline_at: row.deadline_at },
});

function broughtToken(input: VerbInput): string | undefined {
  const token = input.body.object['claim_token'];
  if (token === undefined || isClaimToken(token)) return token;
  throw refuse('validation_failed', `claim_token must match ${CLAIM_TOKEN.source}`);
}

const secondsBetween = (from: Date, to: Date | null): number =>
  Math.max(0, ((to?.getTime() ?? 0) - from.getTime()) / 1_000);
