import type { ErrorCode } from '../errors/error-table.js';
import { refuse } from '../errors/refusal.js';

/** `error.details` names at most this many faults, as those of an announcement do (chapter 2). */
const DETAILS_LIMIT = 20;

interface ConfigurationFault {
  readonly code: ErrorCode;
  readonly path: string;
  readonly message: string;
}

/** The faults of one configuration, in document order, as seen from one of its fields. */
export class ConfigurationFaults {
  /** `path` is the field's path in the request: empty where the configuration is the body. */
  constructor(
    private readonly path: string,
    private readonly found: ConfigurationFault[] = [],
  ) {}

  /** The same faults, seen from a field of this one: `step` is as in `.route` or `[0]`. */
  at(step: string): ConfigurationFaults {
    return new ConfigurationFaults(this.join(step), this.found);
  }

  /** Notes what the field at `step` must be or do. Answers undefined, which is what a faulty field reads as. */
  note(step: string, what: string, code: ErrorCode = 'validation_failed'): undefined {
    const path = this.join(step);
    this.found.push({ code, path, message: `${path} ${what}`.trimStart() });
    return undefined;
  }

  /** Throws the first fault's code and message, with all of them in `details`; returns when there is none. */
  refuseAny(): void {
    const [first] = this.found;
    if (!first) return;
    const details = this.found.slice(0, DETAILS_LIMIT).map(({ path, message }) => ({ path, message }));
    throw refuse(first.code, first.message, details);
  }

  private join(step: string): string {
    return this.path === '' && step.startsWith('.') ? step.slice(1) : `${this.path}${step}`;
  }
}
