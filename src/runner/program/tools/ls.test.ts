import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { call, ScratchRoot } from '../../../../test/runner/scratch-root.js';
import type { RootFolder } from '../root-folder.js';
import { lsTool } from './ls.js';

let scratch: ScratchRoot;
let root: RootFolder;
beforeEach(async () => {
  scratch = await ScratchRoot.make();
  root = await scratch.root();
});
afterEach(() => scratch.remove());

describe('ls', () => {
  const ls = (input: object = {}) => call(lsTool(root), input);

  it('lists a folder, sorted, with what each entry is', async () => {
    await scratch.put('b.txt', '12345');
    await scratch.put('a/x', '');
    await symlink('..', scratch.at('up'));
    await writeFile(scratch.at('new\nline'), '');
    const { content, structured_content } = await ls();
    expect(content).toBe('a/\nb.txt  5\n"new\\nline"  0\nup  (symbolic link)');
    expect(structured_content).toMatchObject({
      path: '.',
      truncated: false,
      entries: [
        { name: 'a', kind: 'folder' },
        { name: 'b.txt', kind: 'file', size: 5 },
        { name: 'new\nline', kind: 'file', size: 0 },
        { name: 'up', kind: 'link' },
      ],
    });
    expect((await ls({ path: 'a' })).content).toBe('x  0');
  });

  it('says that a folder is empty', async () => {
    await mkdir(scratch.at('e'));
    expect((await ls({ path: 'e' })).content).toBe('(the folder is empty)');
  });

  it('answers at most 1,000 entries and says how many more there are', async () => {
    await Promise.all(
      Array.from({ length: 1_002 }, (_, n) => writeFile(scratch.at(`f${String(n).padStart(4, '0')}`), '')),
    );
    const { content, structured_content } = await ls();
    expect(content.split('\n').slice(-2)).toEqual(['f0999  0', '[truncated: 2 more entries]']);
    expect(structured_content).toMatchObject({ truncated: true });
  });
});
