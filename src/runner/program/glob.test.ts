import { describe, expect, it } from '@jest/globals';
import { globMatcher } from './glob.js';

describe('A glob', () => {
  it.each([
    ['*.ts', 'src/deep/a.ts', true],
    ['*.ts', 'a.tsx', false],
    ['src/*.ts', 'src/a.ts', true],
    ['src/*.ts', 'src/deep/a.ts', false],
    ['src/**/*.ts', 'src/a.ts', true],
    ['src/**/*.ts', 'src/very/deep/a.ts', true],
    ['src/**', 'src/a/b', true],
    ['/src/**', 'src/a', true],
    ['a?c', 'abc', true],
    ['a?c', 'a/c', false],
    ['*.{ts,js}', 'x.js', true],
    ['*.{ts,js}', 'x.json', false],
    ['a,b', 'a,b', true],
    ['a.c', 'abc', false],
    ['(a+)+$', '(a+)+$', true],
    ['}', '}', true],
  ])('%p on %p answers %p', (glob, path, matches) => {
    expect(globMatcher(glob)(path)).toBe(matches);
  });

  it('that is broken or too long is refused', () => {
    expect(() => globMatcher('{a')).toThrow('does not close');
    expect(() => globMatcher('a'.repeat(1_001))).toThrow('longer than 1,000');
  });

  it('takes linear time', () => {
    const started = performance.now();
    globMatcher('**/'.repeat(100) + 'x')('a/'.repeat(2_000));
    expect(performance.now() - started).toBeLessThan(2_000);
  });
});
