import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { refuse } from '../errors/refusal.js';
import { Authenticator } from './authenticator.js';
import { calledOf } from './caller.js';
import { verbOf } from './verb.decorator.js';

/** An executor speaks only while it is active, at its current epoch: a re-pair or a revocation fences it (chapter 1). */
@Injectable()
export class CredentialReadinessGuard implements CanActivate {
  constructor(private readonly authenticator: Authenticator) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    if (verbOf(context).plane !== 'executor_transport') return true;
    const { caller } = calledOf(context);
    if (caller?.plane !== 'executor_transport' || !(await this.authenticator.isCurrent(caller)))
      throw refuse('unauthorized');
    return true;
  }
}
