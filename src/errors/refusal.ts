import { ERROR_TABLE, type ErrorCode } from './error-table.js';

/** The one envelope of every error on both doors (chapter 9). */
export interface ErrorEnvelope {
  readonly error: { readonly code: ErrorCode; readonly message: string; readonly details?: unknown };
}

/** A request refused by a rule of the specification. Nothing was written. */
export class Refusal extends Error {
  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly details?: unknown,
    readonly status: number = ERROR_TABLE[code].status,
    /** Seconds until a repeat makes sense; sent as `Retry-After`. */
    readonly retryAfterSeconds?: number,
  ) {
    super(message);
    this.name = 'Refusal';
  }

  get envelope(): ErrorEnvelope {
    const { code, message, details } = this;
    return { error: details === undefined ? { code, message } : { code, message, details } };
  }
}

/** The refusal for `code`; its message defaults to the table's meaning. Use as `throw refuse('key_taken', …)`. */
export function refuse(code: ErrorCode, message?: string, details?: unknown): Refusal {
  return new Refusal(code, message ?? ERROR_TABLE[code].meaning, details);
}

/** The refusal of a claim, which answers 409 also for codes that acceptance answers with 422 (chapter 5). */
export function refuseClaim(code: ErrorCode, message?: string): Refusal {
  const row = ERROR_TABLE[code];
  return new Refusal(code, message ?? row.meaning, undefined, row.claimStatus ?? row.status);
}

/** A refusal that tells the caller when to come back. */
export function refuseUntil(
  code: 'rate_limited' | 'unavailable',
  retryAfterSeconds: number,
  message?: string,
): Refusal {
  const row = ERROR_TABLE[code];
  return new Refusal(
    code,
    message ?? row.meaning,
    undefined,
    row.status,
    Math.max(1, Math.ceil(retryAfterSeconds)),
  );
}
