import type { ErrorCode } from '../errors/error-table.js';
import { refuse } from '../errors/refusal.js';

/** `error.details` names at most this many faults, as those of an announcement do (chapter 2). */
const DETAILS_LIMIT = 20;

/** The faults of one configuration, in document order. */
export class ConfigurationFaults {
  private readonly found: { code: ErrorCode; path: string; message: string }[] = [];

  /** `root` is the path of the configuration itself: empty where it is the body. */
  constructor(private readonly root: string) {}

  /** Notes that the field at `path` (relative to the configuration) `what`: "must be a list of strings". */
  add(path: string, what: string, code: ErrorCode = 'validation_failed'): void {
    const whole = path === '' || this.root === '' ? `${this.root}${path}` : `${this.root}.${path}`;
    this.found.push({ code, path: whole, message: `${whole} ${what}`.trimStart() });
  }

  /** Throws the first fault's code and message, with all of them in `details`; returns when there is none. */
  refuseAny(): void {
    const [first] = this.found;
    if (!first) return;
    const details = this.found.slice(0, DETAILS_LIMIT).map(({ path, message }) => ({ path, message }));
    throw refuse(first.code, first.message, details);
  }
}

/** A JSON object, as opposed to a list, null or a scalar. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
