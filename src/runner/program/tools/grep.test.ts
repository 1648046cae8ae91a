import { symlink } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { call, ScratchRoot } from '../../../../test/runner/scratch-root.js';
import type { RootFolder } from '../root-folder.js';
import { grepTool } from './grep.js';

let scratch: ScratchRoot;
let root: RootFolder;
beforeEach(async () => {
  scratch = await ScratchRoot.make();
  root = await scratch.root();
});
afterEach(() => scratch.remove());

const KiB = 1024;

describe('grep', () => {
  const grep = (input: object, signal?: AbortSignal) => call(grepTool(root), input, signal && { signal });

  beforeEach(async () => {
    await scratch.put('src/a.ts', 'const needle = 1;\nother\nNeedle again\r\n');
    await scratch.put('src/deep/b.md', 'a needle here');
    await scratch.put('node_modules/x.ts', 'needle');
    await scratch.put('.git/config', 'needle');
    await scratch.put('bin', Buffer.from('needle\0'));
    await symlink('../secret.txt', scratch.at('link'));
  });

  it('answers path, line and text, sorted by path; what is no text or no place to look is passed over', async () => {
    expect(await grep({ pattern: 'needle' })).toEqual({
      content: 'src/a.ts:1:const needle = 1;\nsrc/deep/b.md:1:a needle here',
      structured_content: { matches: 2, files_searched: 2, unreadable: 0, truncated: false },
    });
    expect((await grep({ pattern: 'secret' })).content).toBe('No match in 2 files.');
  });

  it.each([
    [
      { ignore_case: true },
      ['src/a.ts:1:const needle = 1;', 'src/a.ts:3:Needle again', 'src/deep/b.md:1:a needle here'],
    ],
    [{ glob: '*.md' }, ['src/deep/b.md:1:a needle here']],
    [{ glob: 'src/*' }, ['src/a.ts:1:const needle = 1;']],
    [{ path: 'src/deep' }, ['src/deep/b.md:1:a needle here']],
    [{ path: 'src/a.ts' }, ['src/a.ts:1:const needle = 1;']],
    [{ path: 'node_modules' }, ['node_modules/x.ts:1:needle']],
    [{ path: '.git/config' }, ['.git/config:1:needle']],
    [{ max_matches: 1 }, ['src/a.ts:1:const needle = 1;', '[truncated: stopped at 1 match]']],
    [{ pattern: '^a\\s\\w+' }, ['src/deep/b.md:1:a needle here']],
    [{ pattern: 'again$' }, []],
  ])('takes %j', async (input, lines) => {
    const { content } = await grep({ pattern: 'needle', ...input });
    expect(lines.length > 0 ? content.split('\n') : content).toEqual(
      lines.length > 0 ? lines : 'No match in 2 files.',
    );
  });

  it.each([
    [{ pattern: '(' }, 'pattern is not a regular expression in RE2 syntax'],
    [{ pattern: '(?=x)' }, 'pattern is not a regular expression in RE2 syntax'],
    [{ pattern: '' }, 'pattern must have 1 to 1000 characters'],
    [{ pattern: 'x', path: 'gone' }, 'gone does not exist'],
    [{ pattern: 'x', path: 'bin' }, 'bin is not a text file'],
    [{ pattern: 'x', path: 'link' }, 'link is a symbolic link'],
    [{ pattern: 'x', glob: '{' }, 'glob opens a brace'],
  ])('refuses %j', async (input, words) => {
    await expect(grep(input)).rejects.toThrow(words);
  });

  it('takes linear time for a pattern that would keep others busy for ever', async () => {
    await scratch.put('evil', `${'a'.repeat(100 * KiB)}!\n`);
    const started = performance.now();
    expect((await grep({ pattern: '^(a+)+$', path: 'evil' })).content).toContain('evil:1:aaa');
    expect((await grep({ pattern: '(x+x+)+y', path: 'evil' })).content).toBe('No match in 1 file.');
    expect(performance.now() - started).toBeLessThan(5_000);
  });

  it('shows a long line cut, and answers at most 256 KiB', async () => {
    await scratch.put('wide', `${'x'.repeat(2_000)}\n`.repeat(900));
    const { content } = await grep({ pattern: 'x', path: 'wide', max_matches: 1_000 });
    expect(Buffer.byteLength(content)).toBeLessThan(257 * KiB);
    expect(content.split('\n')[0]).toBe(`wide:1:${'x'.repeat(500)}…`);
    expect(content).toContain('[truncated: stopped at 256 KiB]');
  });

  it('gives the event loop its turn, and stops when the call is canceled', async () => {
    await scratch.put('big', 'some line of text\n'.repeat(300_000));
    const stop = new AbortController();
    setTimeout(() => stop.abort(new Error('canceled')), 15);
    await expect(grep({ pattern: '(\\w+ ){3}\\w+z', path: 'big' }, stop.signal)).rejects.toThrow('canceled');
  });
});
