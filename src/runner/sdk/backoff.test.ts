import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { backoffMs, jittered, reconnectMs } from './backoff.js';

describe('Waiting between tries', () => {
  it('doubles up to the ceiling and stays in the upper half of each step', () => {
    expect(
      [0, 1, 2, 3, 9].map((n) => backoffMs(n, { firstMs: 100, mostMs: 1_000, random: () => 1 })),
    ).toEqual([100, 200, 400, 800, 1_000]);
    expect(backoffMs(3, { firstMs: 100, mostMs: 1_000, random: () => 0 })).toBe(400);
  });

  it('is never longer than the ceiling, whatever the attempt', () => {
    fc.assert(
      fc.property(fc.nat(), fc.double({ min: 0, max: 1, noNaN: true }), (attempt, chance) => {
        const ms = backoffMs(attempt, { random: () => chance });
        expect(ms).toBeGreaterThanOrEqual(50);
        expect(ms).toBeLessThanOrEqual(5_000);
      }),
    );
  });

  it('for a lost connection grows with the outage, from 100 ms to 5 s', () => {
    expect([0, 100, 1_000, 9_000, 60_000].map((ms) => reconnectMs(ms, () => 1))).toEqual([
      100, 100, 500, 4_500, 5_000,
    ]);
    expect(reconnectMs(1_000, () => 0)).toBe(250);
  });

  it('spreads a period by a fifth', () => {
    expect([jittered(30_000, () => 0), jittered(30_000, () => 1)]).toEqual([24_000, 36_000]);
  });
});
