import { readFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { call, ScratchRoot } from '../../../../test/runner/scratch-root.js';
import { PathLocks } from '../path-locks.js';
import type { RootFolder } from '../root-folder.js';
import { editTool, replaced } from './edit.js';

let scratch: ScratchRoot;
let root: RootFolder;
beforeEach(async () => {
  scratch = await ScratchRoot.make();
  root = await scratch.root();
});
afterEach(() => scratch.remove());

describe('edit', () => {
  const locks = new PathLocks();
  const edit = (input: object) => call(editTool(root, locks), { path: 'f', ...input });

  it('replaces a text that stands there exactly once, character for character', async () => {
    await scratch.put('f', 'one two\r\n$& three');
    expect((await edit({ old_text: 'two\r\n$&', new_text: "$1 $` $'" })).content).toBe(
      'Replaced 1 occurrence in f.',
    );
    expect(await readFile(scratch.at('f'), 'utf8')).toBe("one $1 $` $' three");
  });

  it('replaces every occurrence only when it is told to', async () => {
    await scratch.put('f', 'a b a');
    await expect(edit({ old_text: 'a', new_text: 'c' })).rejects.toThrow('more than once');
    expect((await edit({ old_text: 'a', new_text: 'c', replace_all: true })).structured_content).toEqual({
      path: 'f',
      replacements: 2,
    });
    expect(await readFile(scratch.at('f'), 'utf8')).toBe('c b c');
  });

  it.each([
    ['what is not there', { old_text: 'x', new_text: 'y' }, 'does not stand in f'],
    ['occurrences that overlap', { old_text: 'aba', new_text: 'y' }, 'more than once'],
    ['an empty text', { old_text: '', new_text: 'y' }, 'must not be empty'],
    ['no change', { old_text: 'a', new_text: 'a' }, 'are the same'],
    ['a missing field', { old_text: 'a' }, 'new_text is required'],
  ])('refuses %s and writes nothing', async (_, input, words) => {
    await scratch.put('f', 'ababa');
    await expect(edit(input)).rejects.toThrow(words);
    expect(await readFile(scratch.at('f'), 'utf8')).toBe('ababa');
  });

  it('refuses what is not UTF-8: it could not be written back as it was', async () => {
    await scratch.put('f', Buffer.from([0x61, 0xff]));
    await expect(edit({ old_text: 'a', new_text: 'b' })).rejects.toThrow('f is not UTF-8 text');
  });

  it('keeps a byte order mark', async () => {
    await scratch.put('f', '\ufeffa');
    await edit({ old_text: 'a', new_text: 'b' });
    expect(await readFile(scratch.at('f'), 'utf8')).toBe('\ufeffb');
  });

  it('loses no edit of several at once', async () => {
    const words = Array.from({ length: 20 }, (_, n) => `w${n}w`);
    await scratch.put('f', words.join(' '));
    await Promise.all(words.map((word) => edit({ old_text: word, new_text: word.toUpperCase() })));
    expect(await readFile(scratch.at('f'), 'utf8')).toBe(words.join(' ').toUpperCase());
  });

  it('changes nothing when it is undone', () => {
    fc.assert(
      fc.property(fc.string(), fc.string({ minLength: 1 }), fc.string(), (before, from, after) => {
        const text = `${before}${from}${after}`;
        fc.pre(text.indexOf(from) === text.lastIndexOf(from));
        const { text: edited } = replaced(text, { from, to: '\u{1F511}', all: false }, 'f');
        expect(edited).toBe(`${before}\u{1F511}${after}`);
      }),
    );
  });
});
