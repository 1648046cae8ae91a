import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { namesBelow } from './root-path.js';

describe('A path below the root folder', () => {
  it.each([
    ['.', []],
    ['', []],
    ['/srv/root', []],
    ['/srv/root/', []],
    ['a/b', ['a', 'b']],
    ['./a//b/', ['a', 'b']],
    ['a/../b', ['b']],
    ['/srv/root/a', ['a']],
    ['...', ['...']],
    ['a/ b', ['a', ' b']],
    ['-rf', ['-rf']],
  ])('%p is taken', (path, names) => {
    expect(namesBelow('/srv/root', path)).toEqual(names);
  });

  it.each([
    '..',
    '../x',
    'a/../../x',
    '/',
    '/etc/passwd',
    '/srv/rootless',
    '/srv/root/../x',
    './../root',
    'C:/x',
    'c:x',
  ])('%p leads outside and is refused', (path) => {
    expect(() => namesBelow('/srv/root', path)).toThrow('leads outside the root folder');
  });

  it('refuses NUL, and what is too long', () => {
    expect(() => namesBelow('/srv/root', 'a\0b')).toThrow('NUL');
    expect(() => namesBelow('/srv/root', 'é'.repeat(2_049))).toThrow('longer than 4096 bytes');
  });

  it('takes every absolute path when the root is the whole disk', () => {
    expect(namesBelow('/', '/etc/passwd')).toEqual(['etc', 'passwd']);
  });

  it('never yields a name that leads anywhere but down', () => {
    const name = fc.constantFrom('..', '.', '', 'a', '/', '../..', 'b/..');
    fc.assert(
      fc.property(fc.array(name), (parts) => {
        let names: string[];
        try {
          names = namesBelow('/srv/root', parts.join('/'));
        } catch {
          return;
        }
        expect(
          names.every((each) => each !== '' && each !== '.' && each !== '..' && !each.includes('/')),
        ).toBe(true);
      }),
    );
  });
});
