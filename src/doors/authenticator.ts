import type { AccountId } from '../db/account-id.js';
import type { Caller, ExecutorCaller, MemberCaller } from './caller.js';

/** Who a bus subject says that speaks: an executor at an epoch, or a credential. */
export interface Claim {
  readonly id: string;
  readonly epoch?: number;
}

/** Proves who holds a token. Identity provides it; the guards of both doors ask it. */
export abstract class Authenticator {
  /** The live caller behind a whole token, or undefined for every reason there is (chapter 1). */
  abstract authenticate(token: string): Promise<Caller | undefined>;

  /**
   * The live caller whom a managed bus has proven to speak, in this account; undefined where the epoch is not the current
   * one, the credential is not live, or either is another account's.
   */
  abstract identify(claim: Claim, accountId: AccountId): Promise<Caller | undefined>;

  /** Whether the credential that this caller came with is still live: asked again by whoever answers much later. */
  abstract isLive(caller: Caller): Promise<boolean>;

  /** Whether the executor still is active at the epoch of this caller's credential (chapter 1, credential-ready). */
  abstract isCurrent(caller: ExecutorCaller): Promise<boolean>;

  /** Whether the executor is eligible for this member (chapter 1). */
  abstract isEligible(executorId: string, caller: MemberCaller): Promise<boolean>;
}
