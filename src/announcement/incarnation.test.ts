import { describe, expect, it } from '@jest/globals';
import { JsonBody } from '../doors/body.js';
import type { VerbInput } from '../doors/input.js';
import { Refusal } from '../errors/refusal.js';
import { incarnationOf } from './incarnation.js';

const onBus = (body: unknown): VerbInput => inputOf(JSON.stringify(body), {});
const onRest = (query: Record<string, unknown>): VerbInput => inputOf('{}', query);

function inputOf(text: string, query: Record<string, unknown>): VerbInput {
  const body = JsonBody.read(Buffer.from(text));
  return { body, field: (name) => query[name] ?? body.object[name], header: () => undefined };
}

function refusalOf(input: VerbInput): string {
  try {
    incarnationOf(input);
  } catch (refusal) {
    if (refusal instanceof Refusal) return `${refusal.code}: ${refusal.message}`;
  }
  return 'admitted';
}

describe('an incarnation', () => {
  it.each([
    ['nothing', onBus({}), undefined],
    ['an id on the bus', onBus({ incarnation_id: 'a' }), { id: 'a', leaving: false }],
    [
      'an id and leaving on the bus',
      onBus({ incarnation_id: 'a', leaving: true }),
      { id: 'a', leaving: true },
    ],
    [
      'an id and leaving on REST',
      onRest({ incarnation_id: 'a', leaving: 'true' }),
      { id: 'a', leaving: true },
    ],
    [
      'an id that stays on REST',
      onRest({ incarnation_id: 'a', leaving: 'false' }),
      { id: 'a', leaving: false },
    ],
    [
      'an id of 128 characters',
      onRest({ incarnation_id: 'x'.repeat(128) }),
      { id: 'x'.repeat(128), leaving: false },
    ],
  ])('is read from %s', (_, input, incarnation) => {
    expect(incarnationOf(input)).toEqual(incarnation);
  });

  const tooLong = 'x'.repeat(129);
  it.each([
    ['a number on the bus', onBus({ incarnation_id: 1 }), 'validation_failed: incarnation_id must'],
    ['null on the bus', onBus({ incarnation_id: null }), 'validation_failed: incarnation_id must'],
    ['an empty one on REST', onRest({ incarnation_id: '' }), 'parameter_invalid: incarnation_id must'],
    ['129 characters on REST', onRest({ incarnation_id: tooLong }), 'parameter_invalid: incarnation_id must'],
    ['two of them on REST', onRest({ incarnation_id: ['a', 'b'] }), 'parameter_invalid: incarnation_id must'],
    ['a NUL on the bus', onBus({ incarnation_id: 'a\0' }), 'validation_failed: incarnation_id must'],
    [
      'a lone surrogate on the bus',
      onBus({ incarnation_id: '\ud800' }),
      'validation_failed: incarnation_id must',
    ],
    [
      'leaving as text on REST',
      onRest({ incarnation_id: 'a', leaving: 'yes' }),
      'parameter_invalid: leaving must',
    ],
    [
      'leaving as a number on the bus',
      onBus({ incarnation_id: 'a', leaving: 1 }),
      'validation_failed: leaving must',
    ],
    ['leaving without an id', onBus({ leaving: true }), 'parameter_missing: incarnation_id is required'],
  ])('is refused: %s', (_, input, refusal) => {
    expect(refusalOf(input)).toContain(refusal);
  });
});
