import type { VerbInput } from '../doors/input.js';
import { type Refusal, refuse } from '../errors/refusal.js';
import { unstorablePath } from '../kernel/json/scan.js';

/** Which process of an executor speaks, and whether it stops (chapter 1). */
export interface Incarnation {
  readonly id: string;
  readonly leaving: boolean;
}

/**
 * Reads `incarnation_id` and `leaving` from the body on the bus and from the query on REST; undefined when no incarnation
 * is named. Throws `parameter_missing` when only `leaving` is there, and the door's refusal for a wrong value.
 */
export function incarnationOf(input: VerbInput): Incarnation | undefined {
  const id = input.field('incarnation_id');
  const leaving = leavingOf(input);
  if (id === undefined) {
    if (leaving) throw refuse('parameter_missing', 'incarnation_id is required with leaving');
    return undefined;
  }
  if (typeof id !== 'string' || !isBounded(id) || unstorablePath(id) !== undefined) {
    throw wrong(input, 'incarnation_id', 'must be a string of 1 to 128 characters');
  }
  return { id, leaving };
}

function leavingOf(input: VerbInput): boolean {
  const leaving = input.field('leaving');
  if (leaving === undefined || leaving === false || leaving === 'false') return false;
  if (leaving === true || leaving === 'true') return true;
  throw wrong(input, 'leaving', 'must be true or false');
}

const isBounded = (id: string): boolean => id.length >= 1 && id.length <= 128;

function wrong(input: VerbInput, name: string, message: string): Refusal {
  const inBody = Object.hasOwn(input.body.object, name);
  return refuse(inBody ? 'validation_failed' : 'parameter_invalid', `${name} ${message}`);
}
