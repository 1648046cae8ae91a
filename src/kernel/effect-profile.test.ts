import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { EFFECT_PROFILE_VALUES, effectProfileFaults, WORST_EFFECT_PROFILE } from './effect-profile.js';

const EXACTLY = 'p must carry exactly kind, destructive, effect_scope, idempotency, reconciliation';
const messagesOf = (value: unknown): string[] =>
  effectProfileFaults(value, 'p').map(({ message }) => message);
const { kind: _kind, ...withoutKind } = WORST_EFFECT_PROFILE;

describe('An effect profile', () => {
  it('is any combination of the closed values, in any order of keys', () => {
    const { kind, destructive, effect_scope, idempotency, reconciliation } = EFFECT_PROFILE_VALUES;
    const profile = fc.record({
      reconciliation: fc.constantFrom(...reconciliation),
      idempotency: fc.constantFrom(...idempotency),
      effect_scope: fc.constantFrom(...effect_scope),
      destructive: fc.constantFrom(...destructive),
      kind: fc.constantFrom(...kind),
    });
    fc.assert(fc.property(profile, (value) => expect(messagesOf(value)).toEqual([])));
  });

  it.each<[string, unknown, string[]]>([
    ['absent', undefined, ['p is required']],
    ['null', null, [EXACTLY]],
    ['a list', [], [EXACTLY]],
    ['text', 'write', [EXACTLY]],
    ['empty', {}, [EXACTLY]],
    ['without a key', withoutKind, [EXACTLY]],
    ['with another key', { ...WORST_EFFECT_PROFILE, cost: 1 }, [EXACTLY]],
    ['with a key renamed', { ...withoutKind, Kind: 'write' }, [EXACTLY]],
    [
      'with __proto__',
      JSON.parse(`{"__proto__":1,${JSON.stringify(WORST_EFFECT_PROFILE).slice(1)}`),
      [EXACTLY],
    ],
    [
      'of an unknown kind',
      { ...WORST_EFFECT_PROFILE, kind: 'x' },
      ['p.kind must be one of pure, read_only, write'],
    ],
    [
      'destructive as text',
      { ...WORST_EFFECT_PROFILE, destructive: 'true' },
      ['p.destructive must be one of true, false'],
    ],
    [
      'of an unknown scope',
      { ...WORST_EFFECT_PROFILE, effect_scope: 1 },
      ['p.effect_scope must be one of closed, open'],
    ],
    [
      'of an unknown idempotency',
      { ...WORST_EFFECT_PROFILE, idempotency: null },
      ['p.idempotency must be one of intrinsic, keyed, none'],
    ],
    [
      'of an unknown reconciliation',
      { ...WORST_EFFECT_PROFILE, reconciliation: ['none'] },
      ['p.reconciliation must be one of none, lookup'],
    ],
    [
      'wrong in several ways',
      { ...withoutKind, destructive: 0 },
      [EXACTLY, 'p.destructive must be one of true, false'],
    ],
  ])('is refused when it is %s', (_, value, messages) => {
    expect(messagesOf(value)).toEqual(messages);
  });
});
