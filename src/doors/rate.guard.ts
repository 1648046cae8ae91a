import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { calledOf } from './caller.js';
import { RateLimits } from './rate-limits.js';
import { verbOf } from './verb.decorator.js';

/** Spends one request of the caller's minute in the verb's route family (chapter 9). */
@Injectable()
export class RateGuard implements CanActivate {
  constructor(private readonly limits: RateLimits) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const { rate } = verbOf(context);
    const { caller } = calledOf(context);
    if (caller) await this.limits.admit(caller, rate);
    return true;
  }
}
