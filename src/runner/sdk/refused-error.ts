/** Nexus heard the request and refused it (chapter 9): `code` and `status` are those of its error table. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';

  constructor(
    readonly code: string,
    readonly status: number,
    message: string,
    readonly details?: unknown,
    /** How long Nexus asked to wait; only with `429` and `503`. */
    readonly retryAfterMs?: number,
  ) {
    super(message);
  }

  /** A repeat of the same request may be taken: the refusal is about the moment, not about the request. */
  get passing(): boolean {
    return this.status >= 500 || this.status === 429;
  }
}

/** No answer arrived. The request may or may not have been carried out: repeat it, every verb is safe to repeat. */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError';
}

/** The runner was closed while something still waited. */
export class ClosedError extends Error {
  override readonly name = 'ClosedError';
}

/** Whether `fault` says that the same request may succeed later. */
export const isPassing = (fault: unknown): boolean =>
  fault instanceof UnreachableError || (fault instanceof RefusedError && fault.passing);
