import type { Caller, ExecutorCaller, MemberCaller } from './caller.js';

/** Proves who holds a token. Identity provides it; the guards of both doors ask it. */
export abstract class Authenticator {
  /** The live caller behind a whole token, or undefined for every reason there is (chapter 1). */
  abstract authenticate(token: string): Promise<Caller | undefined>;

  /** Whether the credential that this caller came with is still live: asked again by whoever answers much later. */
  abstract isLive(caller: Caller): Promise<boolean>;

  /** Whether the executor still is active at the epoch of this caller's credential (chapter 1, credential-ready). */
  abstract isCurrent(caller: ExecutorCaller): Promise<boolean>;

  /** Whether the executor is eligible for this member (chapter 1). */
  abstract isEligible(executorId: string, caller: MemberCaller): Promise<boolean>;
}
