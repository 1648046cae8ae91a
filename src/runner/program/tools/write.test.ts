import { chmod, readdir, readFile, stat } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { call, ScratchRoot } from '../../../../test/runner/scratch-root.js';
import { PathLocks } from '../path-locks.js';
import type { RootFolder } from '../root-folder.js';
import { writeTool } from './write.js';

let scratch: ScratchRoot;
let root: RootFolder;
beforeEach(async () => {
  scratch = await ScratchRoot.make();
  root = await scratch.root();
});
afterEach(() => scratch.remove());

const KiB = 1024;

describe('write', () => {
  const write = (input: object, signal?: AbortSignal) =>
    call(writeTool(root, new PathLocks()), input, signal && { signal });

  it('writes a new file, making the folders that are missing', async () => {
    expect(await write({ path: 'a/b/c.txt', content: 'é' })).toEqual({
      content: 'Wrote 2 bytes to a/b/c.txt, a new file.',
      structured_content: { path: 'a/b/c.txt', bytes: 2, replaced: false },
    });
    expect(await readFile(scratch.at('a/b/c.txt'), 'utf8')).toBe('é');
    expect(await readdir(scratch.at('a/b'))).toEqual(['c.txt']);
  });

  it('replaces a file whole and keeps its mode', async () => {
    await scratch.put('run.sh', 'a much longer text than the new one');
    await chmod(scratch.at('run.sh'), 0o750);
    expect((await write({ path: 'run.sh', content: 'x' })).content).toContain(
      'replacing the file that was there',
    );
    expect(await readFile(scratch.at('run.sh'), 'utf8')).toBe('x');
    expect((await stat(scratch.at('run.sh'))).mode & 0o777).toBe(0o750);
  });

  it('leaves nothing behind when it is canceled', async () => {
    await scratch.put('a', 'before');
    await expect(
      write({ path: 'a', content: 'x' }, AbortSignal.abort(new Error('canceled'))),
    ).rejects.toThrow('canceled');
    expect(await readFile(scratch.at('a'), 'utf8')).toBe('before');
    expect(await readdir(scratch.path)).toEqual(['a']);
  });

  it('never shows half a file to a reader', async () => {
    const whole = ['a'.repeat(300 * KiB), 'b'.repeat(300 * KiB)];
    await scratch.put('f', whole[0] as string);
    let writing = true;
    const seen = new Set<boolean>();
    const reader = (async () => {
      while (writing) seen.add(whole.includes(await readFile(scratch.at('f'), 'utf8')));
    })();
    for (let n = 0; n < 20; n += 1) await write({ path: 'f', content: whole[n % 2] });
    writing = false;
    await reader;
    expect([...seen]).toEqual([true]);
  });
});
