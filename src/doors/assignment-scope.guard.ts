import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { refuse } from '../errors/refusal.js';
import { isUuid } from '../kernel/names.js';
import { Authenticator } from './authenticator.js';
import { calledOf } from './caller.js';
import { inputOf } from './input.js';
import { verbOf } from './verb.decorator.js';

/**
 * Knowing an executor's UUID grants nothing: a verb that reads one executor is answered only where its
 * assignment scope admits the member, else `404 not_found` (chapters 1 and 3).
 */
@Injectable()
export class AssignmentScopeGuard implements CanActivate {
  constructor(private readonly authenticator: Authenticator) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const { addresses } = verbOf(context);
    if (addresses === undefined) return true;
    const { caller } = calledOf(context);
    const executorId = inputOf(context).field(addresses);
    if (
      caller?.plane !== 'member' ||
      !isUuid(executorId) ||
      !(await this.authenticator.isEligible(executorId, caller))
    ) {
      throw refuse('not_found');
    }
    return true;
  }
}
