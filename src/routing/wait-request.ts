import type { VerbInput } from '../doors/input.js';
import { refuse } from '../errors/refusal.js';

/** A long poll lasts this long at most (chapter 5). */
export const WAIT_MAX_MS = 60_000;

/** Reads `wait_ms`, 0 to 60,000: `parameter_invalid` for a wrong query, `validation_failed` for a wrong body. */
export function waitMsOf(input: VerbInput, fallback: number): number {
  const value = input.field('wait_ms');
  if (value === undefined) return fallback;
  const ms = typeof value === 'string' && /^\d{1,6}$/.test(value) ? Number(value) : value;
  if (typeof ms === 'number' && Number.isInteger(ms) && ms >= 0 && ms <= WAIT_MAX_MS) return ms;
  const inBody = Object.hasOwn(input.body.object, 'wait_ms');
  throw refuse(
    inBody ? 'validation_failed' : 'parameter_invalid',
    `wait_ms must be an integer from 0 to ${WAIT_MAX_MS}`,
  );
}
