import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { refuse } from '../errors/refusal.js';
import type { AccountId } from '../db/account-id.js';
import { Authenticator, type Claim } from './authenticator.js';
import { type Caller, calledOf } from './caller.js';
import { RateLimits } from './rate-limits.js';
import { verbOf } from './verb.decorator.js';

/** What a transport tells the guards about a request, beside the caller they put there. */
export interface Proof {
  caller?: Caller;
  /** The request's `Authorization` header. */
  readonly authorization: string | undefined;
  /** Whom failures are counted for: the source address, or the bus connection's subject. */
  readonly source: string;
  /** The principal that the subject names, on the bus: it must be the token's. */
  readonly claimed?: Claim;
  /**
   * The account over whose own connection a managed bus brought the request: the server lets only that principal publish
   * on its subject there, so `claimed` is proven, and a token is not asked for.
   */
  readonly provenIn?: AccountId | undefined;
}

/**
 * Who is it, and is this their plane? One guard for REST and the bus. Every reason to refuse is the same
 * `401 unauthorized` (chapter 1); a handler without a verb is refused.
 */
@Injectable()
export class PlaneGuard implements CanActivate {
  constructor(
    private readonly authenticator: Authenticator,
    private readonly limits: RateLimits,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const verb = verbOf(context);
    if (verb.plane === 'open') return true;
    const proof = proofOf(context);
    await this.limits.admitSource(proof.source);
    const caller = await this.callerOf(proof);
    if (!caller || caller.plane !== verb.plane || !isClaimed(proof, caller)) {
      await this.limits.countBadToken(proof.source);
      throw refuse('unauthorized');
    }
    calledOf(context).caller = caller;
    return true;
  }

  private async callerOf({ authorization, claimed, provenIn }: Proof): Promise<Caller | undefined> {
    if (claimed && provenIn !== undefined) return this.authenticator.identify(claimed, provenIn);
    const token = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
    return token === undefined ? undefined : this.authenticator.authenticate(token);
  }
}

function proofOf(context: ExecutionContext): Proof {
  if (context.getType() !== 'http') return context.switchToRpc().getContext<Proof>();
  const { headers, ip } = context
    .switchToHttp()
    .getRequest<{ headers: { authorization?: string }; ip: string }>();
  return { authorization: headers.authorization, source: ip };
}

function isClaimed({ claimed }: Proof, caller: Caller): boolean {
  if (!claimed) return true;
  if (caller.plane === 'executor_transport')
    return claimed.id === caller.executorId && claimed.epoch === caller.epoch;
  return claimed.id === caller.credentialId;
}
