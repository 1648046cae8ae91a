import type { AccountId } from '../db/account-id.js';
import type { TaskRow } from './task-row.js';

/** The first claim of a call that goes to an executor's own subject, made in that executor's name (chapter 8, Delivery). */
export interface DeliveryClaim {
  readonly token: string;
  /** Hexadecimal; the token itself is never stored. */
  readonly tokenSha256: string;
  /** The epoch whose subject the call goes to. */
  readonly epoch: number;
  /** When it was made, by this machine's monotonic clock, in ms: the call's time began no sooner. */
  readonly askedAt: number;
}

/** A call that is about to be accepted. */
export interface NewCall {
  readonly accountId: AccountId;
  readonly executorId: string;
  readonly inputText: string;
}

/** Deliveries to executors that announced `serve`. The work module provides it; acceptance and dispatch ask it. */
export abstract class Deliveries {
  /** A claim to accept the call with; none where it could not be sent at once, or others wait before it. */
  abstract claimFor(call: NewCall): Promise<DeliveryClaim | undefined>;

  /** Sends a call that was accepted, or claimed, with `claim`. Called once that is committed. */
  abstract deliver(row: TaskRow, claim: DeliveryClaim): void;

  /** Calls wait for an executor: delivers what it may be delivered. Nothing is waited for. */
  abstract wake(accountId: AccountId, executorId: string): void;
}
