import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { matchesGlob } from './glob.js';

describe('A glob', () => {
  it.each([
    ['read', 'read', true],
    ['read', 'read2', false],
    ['read', 'rea', false],
    ['*', '', true],
    ['*', 'anything\nat all', true],
    ['read_*', 'read_', true],
    ['read_*', 'read_file', true],
    ['*_file', 'read_file', true],
    ['*_file', 'read_file_2', false],
    ['a*b*c', 'a-b-b-c', true],
    ['a*b*c', 'a-c-b', false],
    ['', '', true],
    ['', 'a', false],
    ['**', 'a', true],
    ['a.c', 'abc', false],
    ['/etc/*', '/etc/passwd', true],
  ])('%j on %j is %s', (pattern, text, expected) => {
    expect(matchesGlob(pattern, text)).toBe(expected);
  });

  it('agrees with a regular expression of the same meaning', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 8 });
    const texts = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 12 });
    fc.assert(
      fc.property(letters, texts, (pattern, text) => {
        const meant = new RegExp(`^${pattern.replaceAll('*', '[^]*')}$`);
        expect(matchesGlob(pattern, text)).toBe(meant.test(text));
      }),
    );
  });

  it.each([
    ['many stars', `${'*a'.repeat(500)}b`],
    ['a long part that almost matches everywhere', `*${'a'.repeat(1_020)}b*`],
    ['a part with its odd character in the middle', `*${'a'.repeat(510)}b${'a'.repeat(510)}*`],
  ])('stays fast on the largest input with %s', (_, pattern) => {
    const text = 'a'.repeat(256 * 1024);
    const started = performance.now();
    expect(matchesGlob(pattern, text)).toBe(false);
    expect(performance.now() - started).toBeLessThan(500);
  });
});
