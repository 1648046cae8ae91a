import type { ErrorCode } from '../errors/error-table.js';
import { refuse } from '../errors/refusal.js';
import { type Fault, fault } from '../kernel/fault.js';
import { unstorablePath } from '../kernel/json/scan.js';

/** `error.details` names at most this many faults (chapter 2). */
const DETAILS_LIMIT = 20;

interface Noted extends Fault {
  readonly code: ErrorCode;
}

/** The faults of one announcement, in document order; no more are gathered than a refusal names. */
export class AnnouncementFaults {
  /**
   * `mayBeUnstorable`: whether the text holds a NUL or a lone surrogate somewhere, so that it pays to look where. `shown` is
   * the path of what was sent, of a path of what is checked.
   */
  constructor(
    private readonly mayBeUnstorable: boolean,
    private readonly shown: (path: string) => string = (path) => path,
    private readonly found: Noted[] = [],
  ) {}

  /** Notes among the same faults, under other paths. */
  shownAs(shown: (path: string) => string): AnnouncementFaults {
    return new AnnouncementFaults(this.mayBeUnstorable, shown, this.found);
  }

  /** Whether a refusal has room for no more: whoever reads may stop. */
  get isFull(): boolean {
    return this.found.length >= DETAILS_LIMIT;
  }

  /** Notes that the field at `path` `what`: "must be an object". */
  add(path: string, what: string, code: ErrorCode = 'invalid_announcement'): void {
    this.found.push({ code, ...fault(this.shown(path), what) });
  }

  addAll(faults: readonly Fault[]): void {
    for (const { path, message } of faults) this.add(path, message.slice(path.length + 1));
  }

  /** Notes a member of the object at `path` whose key or value cannot be stored, and says whether it did. */
  addUnstorable(path: string, key: string, value: unknown): boolean {
    if (!this.mayBeUnstorable) return false;
    const found = unstorablePath({ [key]: value }, path);
    if (found !== undefined) this.add(found, 'holds a NUL or a lone surrogate');
    return found !== undefined;
  }

  /** Throws the first fault's code and message, with all of them in `details`; returns when there is none. */
  refuseAny(): void {
    const [first] = this.found;
    if (!first) return;
    const details = this.found.slice(0, DETAILS_LIMIT).map(({ path, message }) => ({ path, message }));
    throw refuse(first.code, first.message, details);
  }
}
