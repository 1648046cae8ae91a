import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { BoundedOutput } from './bounded-output.js';

const written = (most: number, ...chunks: string[]): BoundedOutput => {
  const output = new BoundedOutput(most);
  for (const chunk of chunks) output.add(Buffer.from(chunk));
  return output;
};

describe('An output that may be endless', () => {
  it('is kept whole while it fits', () => {
    expect(written(10, 'abcde', 'fghij').text()).toBe('abcdefghij');
    expect(written(10).text()).toBe('');
  });

  it('keeps its beginning and its end, and says how much lies between', () => {
    expect(written(4, 'abcdefgh').text()).toBe('ab\n[… 4 bytes left out …]\ngh');
  });

  it('shows its last bytes while it runs', () => {
    expect(written(8, 'abc').lastText(2)).toBe('bc');
    expect(written(8, 'abcdefghij').lastText(3)).toBe('hij');
  });

  it('holds no NUL', () => {
    expect(written(8, 'a\0b').text()).toBe('a\ufffdb');
  });

  it('is the same however it is cut into chunks', () => {
    fc.assert(
      fc.property(
        fc.array(fc.stringMatching(/^[a-z]{0,30}$/)),
        fc.integer({ min: 2, max: 40 }),
        (chunks, most) => {
          const whole = chunks.join('');
          const output = written(most, ...chunks);
          expect(output.text()).toBe(written(most, whole).text());
          expect(output.bytes).toBe(whole.length);
        },
      ),
    );
  });
});
