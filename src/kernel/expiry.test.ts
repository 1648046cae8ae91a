import { describe, expect, it } from '@jest/globals';
import { WORST_EFFECT_PROFILE } from './effect-profile.js';
import { APPROVAL_HOLD_MS, expiryCells, expiryOf, recoveryOf } from './expiry.js';
import { isFinal, OPEN_STATUSES, TASK_STATUSES } from './task-status.js';

const worst = WORST_EFFECT_PROFILE;

describe('At its deadline', () => {
  it.each(expiryCells())(
    '$kind, claimed $claimed, of $effect_profile becomes what the table says',
    (task) => {
      const { kind, claimed, effect_profile: profile } = task;
      const expired = expiryOf(task);
      if (kind === 'approval')
        expect(expired).toEqual({ status: 'timed_out', error_key: 'approval_expired' });
      else if (!claimed || profile.kind !== 'write' || profile.idempotency === 'intrinsic')
        expect(expired).toEqual({ status: 'timed_out', error_key: 'tool_timeout' });
      else {
        const recovery = recoveryOf(profile);
        expect(expired).toEqual({
          status: 'uncertain',
          error_key: 'tool_uncertain',
          error_detail: 'the effect may have happened',
          ...(recovery && { recovery }),
        });
      }
      expect(isFinal(expired.status)).toBe(true);
    },
  );

  it('every cell is there once: two kinds, claimed or not, 72 profiles', () => {
    const cells = expiryCells().map((cell) => JSON.stringify(cell));
    expect(new Set(cells).size).toBe(2 * 2 * 72);
    expect(cells).toHaveLength(2 * 2 * 72);
  });

  it.each([
    [
      'a call that was never claimed',
      { kind: 'tool_call', claimed: false, effect_profile: worst },
      'timed_out',
      'tool_timeout',
    ],
    [
      'a claimed read',
      { kind: 'tool_call', claimed: true, effect_profile: { ...worst, kind: 'read_only' } },
      'timed_out',
      'tool_timeout',
    ],
    [
      'a claimed pure call',
      { kind: 'tool_call', claimed: true, effect_profile: { ...worst, kind: 'pure' } },
      'timed_out',
      'tool_timeout',
    ],
    [
      'a claimed intrinsic write',
      { kind: 'tool_call', claimed: true, effect_profile: { ...worst, idempotency: 'intrinsic' } },
      'timed_out',
      'tool_timeout',
    ],
    [
      'a claimed keyed write',
      { kind: 'tool_call', claimed: true, effect_profile: { ...worst, idempotency: 'keyed' } },
      'uncertain',
      'tool_uncertain',
    ],
    [
      'a claimed write',
      { kind: 'tool_call', claimed: true, effect_profile: worst },
      'uncertain',
      'tool_uncertain',
    ],
    ['a hold', { kind: 'approval', claimed: false, effect_profile: worst }, 'timed_out', 'approval_expired'],
  ] as const)('%s', (_, task, status, error_key) => {
    expect(expiryOf(task)).toMatchObject({ status, error_key });
  });

  it.each([
    ['keyed', 'none', 'retry_with_same_key'],
    ['keyed', 'lookup', 'retry_with_same_key'],
    ['none', 'lookup', 'lookup'],
    ['none', 'none', undefined],
  ] as const)(
    'an uncertain task with idempotency %s and reconciliation %s carries %s',
    (idempotency, reconciliation, recovery) => {
      const expired = expiryOf({
        kind: 'tool_call',
        claimed: true,
        effect_profile: { ...worst, idempotency, reconciliation },
      });
      expect(expired.status).toBe('uncertain');
      expect(expired.recovery).toBe(recovery);
      expect('recovery' in expired).toBe(recovery !== undefined);
    },
  );

  it('a hold ends after 24 hours', () => {
    expect(APPROVAL_HOLD_MS).toBe(86_400_000);
  });
});

it('Five of the seven statuses are final', () => {
  expect(TASK_STATUSES.filter(isFinal)).toEqual([
    'completed',
    'failed',
    'timed_out',
    'uncertain',
    'canceled',
  ]);
  expect(TASK_STATUSES.filter((status) => !isFinal(status))).toEqual([...OPEN_STATUSES]);
});
