import { chmod, readdir, readFile, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ScratchRoot } from '../../../test/runner/scratch-root.js';
import { replaceFile } from './replace-file.js';
import type { OpenFolder } from './root-folder.js';

const working = new AbortController().signal;
let scratch: ScratchRoot;
let folder: OpenFolder;
beforeEach(async () => {
  scratch = await ScratchRoot.make();
  folder = await (await scratch.root()).folder('.');
});
afterEach(async () => {
  await folder.close();
  await scratch.remove();
});

describe('A file that is replaced', () => {
  it('is left as it is when it is no longer the file that was read', async () => {
    await scratch.put('f', 'read');
    const read = await folder.look('f');
    await writeFile(scratch.at('f'), 'written by somebody else');
    await expect(replaceFile(folder, 'f', Buffer.from('edited'), working, { read })).rejects.toThrow(
      'f was changed by somebody else meanwhile; nothing was written',
    );
    expect(await readFile(scratch.at('f'), 'utf8')).toBe('written by somebody else');
    expect(await readdir(scratch.path)).toEqual(['f']);
  });

  // Nothing is forbidden to root: there it would prove nothing.
  (process.getuid?.() === 0 ? it.skip : it)(
    'is left as it is when it may not be written, though its folder may',
    async () => {
      await scratch.put('f', 'protected');
      await chmod(scratch.at('f'), 0o400);
      await expect(replaceFile(folder, 'f', Buffer.from('x'), working)).rejects.toThrow('permission denied');
      expect(await readFile(scratch.at('f'), 'utf8')).toBe('protected');
    },
  );
});
