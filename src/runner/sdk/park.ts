import type { ClaimedTask } from './wire.js';

/** A claim that was answered, with the times of this machine's monotonic clock (`performance.now()`, ms). */
export interface Claimed {
  readonly task: ClaimedTask;
  readonly claimToken: string;
  /** When the claim was first asked for: a repeated claim answers the first one, whose clock began then. */
  readonly firstAskedAt: number;
  readonly lastAskedAt: number;
}

/** No extension is asked for sooner than this, in ms, however short the park is. */
const LEAST_PAUSE_MS = 10;

/**
 * The deadline of one claimed call, by this machine's monotonic clock: clocks may differ by minutes, so it counts
 * from the moment of asking and the time the task is parked for, never from `deadline_at`. Since asking comes before
 * the server's own start of the clock, it is never later than the true deadline of the request that was carried out.
 */
export class Park {
  private readonly timeoutMs: number;
  private endsAt: number;
  private nextExtensionAt: number;

  constructor({ task, firstAskedAt, lastAskedAt }: Claimed) {
    this.timeoutMs = task.timeout_ms;
    // Which of several tries was carried out is unknown: extend by the first, give up by the last.
    this.endsAt = lastAskedAt + this.timeoutMs;
    this.nextExtensionAt = firstAskedAt + this.timeoutMs / 2;
  }

  /** An extension asked for at `askedAt` was granted. */
  extended(askedAt: number): void {
    this.endsAt = askedAt + this.timeoutMs;
    this.nextExtensionAt = askedAt + this.timeoutMs / 2;
  }

  /** Until half the park has gone, in ms. */
  msToExtension(now: number): number {
    return Math.max(LEAST_PAUSE_MS, this.nextExtensionAt - now);
  }

  /** Until the claim ends unless it is extended, in ms; not positive when it has. */
  msToEnd(now: number): number {
    return this.endsAt - now;
  }
}
