import { describe, expect, it } from '@jest/globals';
import { Park } from './park.js';

const claimed = (firstAskedAt: number, lastAskedAt: number): Park =>
  new Park({ task: { timeout_ms: 1_000 } as never, claimToken: 't', firstAskedAt, lastAskedAt });

describe('The deadline of a claimed call', () => {
  it('is extended at half the park, counted from asking', () => {
    const park = claimed(100, 100);
    expect([park.msToExtension(110), park.msToEnd(110)]).toEqual([490, 990]);
    park.extended(600);
    expect([park.msToExtension(610), park.msToEnd(610)]).toEqual([490, 990]);
  });

  it('is extended at once where a repeated claim may have begun long ago', () => {
    const park = claimed(0, 5_000);
    expect([park.msToExtension(5_010), park.msToEnd(5_010)]).toEqual([10, 990]);
  });

  it('has passed when nobody extended it', () => {
    expect(claimed(0, 0).msToEnd(1_001)).toBe(-1);
  });
});
