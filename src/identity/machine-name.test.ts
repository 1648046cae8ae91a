import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isModuleName, isReservedModuleName } from '../kernel/names.js';
import { machineSlug } from './machine-name.js';

describe('The machine of an executor that nobody named', () => {
  it.each([
    ['Build box', 'build-box'],
    ['build_box-7', 'build_box-7'],
    ['Zoë’s Mac (2)', 'zoe-s-mac-2'],
    ['  --x--  ', 'x'],
    ['日本', 'machine'],
    ['nexus', 'nexus'],
    ['nexus-local', 'machine-nexus-local'],
    ['Nexus local', 'machine-nexus-local'],
    ['a'.repeat(80), 'a'.repeat(64)],
    [`${'a'.repeat(63)} b`, 'a'.repeat(63)],
  ])('is a slug: %j is %s', (text, slug) => {
    expect(machineSlug(text)).toBe(slug);
  });

  it('is a name that chapter 1 admits, whatever the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.constantFrom('', 'nexus-', 'nexus '), (text, prefix) => {
        const name = machineSlug(prefix + text);
        return isModuleName(name) && !isReservedModuleName(name);
      }),
    );
  });
});
