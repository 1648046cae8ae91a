import { Injectable } from '@nestjs/common';
import { KeyedDatabase } from '../db/keyed-database.js';
import { Answer } from '../doors/answer.js';
import type { ExecutorCaller } from '../doors/caller.js';
import type { VerbInput } from '../doors/input.js';
import { refuse } from '../errors/refusal.js';
import { readClaimStatus } from './claim-status.sql.js';
import { jobsJson, taskClaim, type TaskClaim } from './task-claim.js';

/** Says whether a claim still holds (chapter 6, Claim status): a pure read, which no cache may keep. */
@Injectable()
export class ClaimStatus {
  constructor(private readonly database: KeyedDatabase) {}

  /** `{claim: {active}}`. Throws `parameter_missing`, `not_found` and `not_claimant`. */
  async show(caller: ExecutorCaller, input: VerbInput): Promise<Answer> {
    const active = await this.isActive(taskClaim(caller, input, presentedToken(input)));
    return new Answer({ claim: { active } }, 200, { 'Cache-Control': 'no-store' });
  }

  /** Whether the task of this claim is still to be settled. Throws where the claim is not the task's. */
  async isActive(claim: TaskClaim): Promise<boolean> {
    const found = await this.database.row(readClaimStatus, jobsJson([claim]));
    if (!found) throw refuse('not_found');
    if (found.refusal !== null) throw refuse(found.refusal);
    return found.is_active === true;
  }
}

/** A header on REST, so that no log of addresses holds it; on the bus a field. */
function presentedToken(input: VerbInput): string {
  const token = input.header('claim-token') ?? input.body.object['claim_token'];
  if (token === undefined || token === '') throw refuse('parameter_missing', 'Claim-Token is required');
  if (typeof token !== 'string') throw refuse('parameter_invalid', 'Claim-Token must be a string');
  return token;
}
