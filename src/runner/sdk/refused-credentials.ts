import { ErrorCode } from 'nats';
import { jittered } from './backoff.js';
import type { Log } from './log.js';

/** So often in a row, and it is no accident of a server that has just come up. */
const LASTING = 2;
/** A first connect gives up after refusals for this long. */
const GIVE_UP_AFTER_MS = 10_000;
const SLOWLY_MS = 10_000;

/** How NATS takes the credentials of a registration: refused again and again, they were revoked or replaced. */
export class RefusedCredentials {
  private inARow = 0;
  private since = 0;

  constructor(private readonly log: Log) {}

  /** Hears a fault of connecting by its code. True where it was a refusal of the credentials. */
  heard(code: unknown): boolean {
    if (code !== ErrorCode.AuthorizationViolation && code !== ErrorCode.AuthenticationExpired) return false;
    this.inARow += 1;
    if (this.inARow === 1) this.since = performance.now();
    if (this.inARow === LASTING) {
      this.log(
        'error',
        'NATS refuses the credentials of this registration: it was registered anew elsewhere, or revoked. ' +
          'Ask to be paired again',
      );
    }
    return true;
  }

  /** They were taken. */
  taken(): void {
    this.inARow = 0;
  }

  /** How long to wait before the next try, in ms; undefined where nothing speaks for waiting long. */
  get pauseMs(): number | undefined {
    return this.inARow >= LASTING ? jittered(SLOWLY_MS) : undefined;
  }

  /** Whether who has never been connected need not try on. */
  get isFinal(): boolean {
    return this.inARow >= LASTING && performance.now() - this.since >= GIVE_UP_AFTER_MS;
  }
}
