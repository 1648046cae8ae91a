import { randomUUID } from 'node:crypto';
import type { BusLink } from './bus-link.js';
import type { ExecutorVerbs } from './executor-verbs.js';
import type { Log } from './log.js';
import { RefusedError } from './refused-error.js';

/** The SDK says that it is here this often, in ms (chapter 1); Nexus frees the executor 12 s after the last word. */
export const BEAT_EVERY_MS = 5_000;
const ASK_AGAIN_EVERY_MS = 2_000;
/** So many refusals of the credential in a row, and it is taken to be gone for good. */
const MOST_REFUSALS = 3;

export interface SeatEvents {
  /** Another process speaks for the executor now. */
  lost(): void;
  /** This process speaks for it again. */
  regained(): void;
  /** The credential is no longer good: re-paired elsewhere, or revoked. */
  fenced(refusal: RefusedError): void;
}

/**
 * The right of this process to speak as its executor: one process at a time, told apart by an incarnation id
 * (chapter 1). Another that starts with the same registration waits its turn.
 */
export class Seat {
  private readonly incarnationId = randomUUID();
  private held = false;
  private saidWaiting = false;

  constructor(
    private readonly link: BusLink,
    private readonly verbs: ExecutorVerbs,
    private readonly log: Log,
    private readonly beatEveryMs = BEAT_EVERY_MS,
  ) {}

  get isHeld(): boolean {
    return this.held;
  }

  /** Waits until this process may speak. Throws `RefusedError` for a credential that is not good, or the signal's reason. */
  async take(signal: AbortSignal): Promise<void> {
    while (!(await this.verbs.repeated('describe', () => this.beat(), signal)))
      await this.link.pause(this.waitMs, signal);
  }

  /** Says every 5 s, and at once after a reconnect, that this process is here; until `signal` aborts. */
  async keep(signal: AbortSignal, events: SeatEvents): Promise<void> {
    for (let refusals = 0; !signal.aborted;) {
      await this.link.pause(this.waitMs, signal).catch(() => undefined);
      if (signal.aborted) return;
      const before = this.held;
      try {
        await this.beat();
        refusals = 0;
      } catch (fault) {
        this.log('debug', `describe: ${(fault as Error).message}`);
        if (fault instanceof RefusedError && fault.status === 401) refusals += 1;
        if (refusals >= MOST_REFUSALS) return events.fenced(fault as RefusedError);
      }
      if (before && !this.held) events.lost();
      if (!before && this.held) events.regained();
    }
  }

  /** Frees the executor for the next process at once. */
  async leave(): Promise<void> {
    if (this.held) await this.verbs.describe(this.incarnationId, true);
    this.held = false;
  }

  private get waitMs(): number {
    return this.held ? this.beatEveryMs : Math.min(ASK_AGAIN_EVERY_MS, this.beatEveryMs);
  }

  /** True when this process may speak, false when another does. */
  private async beat(): Promise<boolean> {
    try {
      await this.verbs.describe(this.incarnationId);
    } catch (fault) {
      if (!(fault instanceof RefusedError && fault.code === 'executor_in_use')) throw fault;
      this.held = false;
      if (!this.saidWaiting)
        this.log('warn', 'another process speaks for this executor just now; waiting for its turn to end');
      this.saidWaiting = true;
      return false;
    }
    if (this.saidWaiting) this.log('info', 'it is this process’s turn now');
    this.saidWaiting = false;
    this.held = true;
    return true;
  }
}
