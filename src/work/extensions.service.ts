import { Injectable } from '@nestjs/common';
import { KeyedDatabase } from '../db/keyed-database.js';
import type { ExecutorCaller } from '../doors/caller.js';
import type { VerbInput } from '../doors/input.js';
import { refuse } from '../errors/refusal.js';
import { TaskEvents } from '../routing/task-events.js';
import { claimJson } from './claims.service.js';
import { diagnoseExtend, type ExtendJob, extendTask } from './extend.sql.js';
import { settledAttempt } from './job-lane.js';
import { claimTokenOf, jobsJson, taskClaim } from './task-claim.js';

/** The largest `integer` of PostgreSQL: longer than any bound, so that it is refused as too long. */
const LONGEST_MS = 2_147_483_647;

/** Extends claims (chapter 6, Extend). Invariant: only a deadline moves, and only while its claim holds. */
@Injectable()
export class Extensions {
  constructor(
    private readonly database: KeyedDatabase,
    private readonly events: TaskEvents,
  ) {}

  /** The shape of a claim. Throws the refusals of chapter 6, Extend, in its order. */
  async extend(caller: ExecutorCaller, input: VerbInput): Promise<object> {
    const token = claimTokenOf(input);
    const extension: ExtendJob = {
      ...taskClaim(caller, input, token),
      timeout_ms: Math.min(timeoutOf(input), LONGEST_MS),
    };
    const job = jobsJson([extension]);
    return settledAttempt(async () => {
      const row = await this.database.row(extendTask, job);
      if (row) {
        this.events.changed(row);
        return claimJson(row, token);
      }
      const found = await this.database.row(diagnoseExtend, job);
      if (!found) throw refuse('not_found');
      if (found.refusal !== null) throw refuse(found.refusal);
      return undefined;
    });
  }
}

function timeoutOf(input: VerbInput): number {
  const value = input.body.object['timeout_ms'];
  if (value === undefined) throw refuse('parameter_missing', 'timeout_ms is required');
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1) return value;
  throw refuse('invalid_timeout_ms', 'timeout_ms must be a positive integer');
}
