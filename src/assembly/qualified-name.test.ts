import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { importedName, qualifiedName } from './qualified-name.js';

const A = '01990000-0000-7000-8000-00000000000a';
const B = '01990000-0000-7000-8000-00000000000b';
const servedName = fc.stringMatching(/^[A-Za-z0-9_-]{1,128}$/);

describe('A qualified name', () => {
  it('is the served name, cut, and eight hex digits', () => {
    expect(qualifiedName(A, 'read')).toMatch(/^read_[0-9a-f]{8}$/);
    expect(qualifiedName(A, 'x'.repeat(128))).toMatch(/^x{55}_[0-9a-f]{8}$/);
  });

  it('is the same every time, and another one for another runner', () => {
    expect(qualifiedName(A, 'read')).toBe('read_' + qualifiedName(A, 'read').slice(-8));
    expect(qualifiedName(A, 'read')).not.toBe(qualifiedName(B, 'read'));
  });

  it('is a callable name for every served name', () => {
    fc.assert(fc.property(servedName, (served) => /^[A-Za-z0-9_-]{1,64}$/.test(qualifiedName(A, served))));
  });

  it('tells long served names apart that begin alike', () => {
    const long = 'x'.repeat(100);
    expect(qualifiedName(A, `${long}1`)).not.toBe(qualifiedName(A, `${long}2`));
  });
});

describe('An imported tool', () => {
  it.each([
    ['keeps its served name', 'read', new Set<string>(), false],
    ['keeps a name of 64 characters', 'x'.repeat(64), new Set<string>(), false],
    ['is qualified where its name is taken', 'read', new Set(['read']), true],
    ['is qualified where its name is longer than 64', 'x'.repeat(65), new Set<string>(), true],
  ])('%s', (_, served, taken, qualified) => {
    expect(importedName(A, served, taken)).toBe(qualified ? qualifiedName(A, served) : served);
  });
});
