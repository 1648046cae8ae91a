import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { call, ScratchRoot } from '../../../../test/runner/scratch-root.js';
import type { RootFolder } from '../root-folder.js';
import { readTool } from './read.js';

let scratch: ScratchRoot;
let root: RootFolder;
beforeEach(async () => {
  scratch = await ScratchRoot.make();
  root = await scratch.root();
});
afterEach(() => scratch.remove());

const KiB = 1024;
const numbered = (count: number): string =>
  Array.from({ length: count }, (_, n) => `line ${n + 1}\n`).join('');

describe('read', () => {
  const read = (input: object, signal?: AbortSignal) => call(readTool(root), input, signal && { signal });

  it('answers a text as it is', async () => {
    const text = '\ufeffé\r\nsecond\n\nlast without newline';
    await scratch.put('a/b.txt', text);
    expect(await read({ path: './a//b.txt' })).toEqual({
      content: text,
      structured_content: {
        path: 'a/b.txt',
        first_line: 1,
        lines: 4,
        truncated: false,
        size_bytes: Buffer.byteLength(text),
      },
    });
    await scratch.put('empty', '');
    expect(await read({ path: 'empty' })).toMatchObject({
      content: '',
      structured_content: { lines: 0, truncated: false },
    });
  });

  it('answers the lines asked for, and says where to read on', async () => {
    await scratch.put('n', numbered(50_000));
    const page = await read({ path: 'n', offset: 49_001, limit: 2 });
    expect(page.content).toBe('line 49001\nline 49002\n[truncated: read on with offset 49003]');
    expect(page.structured_content).toMatchObject({
      first_line: 49_001,
      lines: 2,
      truncated: true,
      next_offset: 49_003,
    });
    expect((await read({ path: 'n', offset: 49_999, limit: 2 })).content).toBe('line 49999\nline 50000\n');
    await expect(read({ path: 'n', offset: 50_001 })).rejects.toThrow(
      'offset 50001 is past the end: n has 50000 lines',
    );
  });

  it('answers at most 256 KiB, of whole lines', async () => {
    await scratch.put('n', numbered(40_000));
    const { content, structured_content } = await read({ path: 'n', limit: 10_000 });
    expect(Buffer.byteLength(content)).toBeLessThan(257 * KiB);
    expect(structured_content).toMatchObject({ lines: 10_000, next_offset: 10_001 });
    await scratch.put('w', `${'w'.repeat(100 * KiB)}\n`.repeat(3));
    expect((await read({ path: 'w' })).structured_content).toMatchObject({
      lines: 2,
      truncated: true,
      next_offset: 3,
    });
  });

  it('cuts a line that is longer than that, between two letters, and says so', async () => {
    await scratch.put('long', `${'é'.repeat(200 * KiB)}\nnext\n`);
    const { content } = await read({ path: 'long' });
    expect(content).toMatch(
      /^é{131072}\n\[truncated: line 1 is longer than 256 KiB and was cut; read on with offset 2\]$/,
    );
    expect((await read({ path: 'long', offset: 2 })).content).toBe('next\n');
  });

  it('reads any file page by page without losing a line', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.stringMatching(/^[a-zé]{0,20}$/), { maxLength: 30 }),
        fc.integer({ min: 1, max: 7 }),
        async (lines, limit) => {
          const text = lines.join('\n');
          await scratch.put('p', text);
          let all = '';
          for (let offset: number | undefined = 1; offset !== undefined;) {
            const page: Awaited<ReturnType<typeof read>> = await read({ path: 'p', offset, limit });
            all += page.content.replace(/\n?\[truncated: .*\]$/, (note) =>
              note.startsWith('\n') ? '\n' : '',
            );
            offset = (page.structured_content as { next_offset?: number }).next_offset;
          }
          expect(all).toBe(text);
        },
      ),
      { numRuns: 50 },
    );
  });

  it('refuses what is no text', async () => {
    await scratch.put('bin', Buffer.from([1, 0, 2]));
    await scratch.put('late', Buffer.concat([Buffer.alloc(100 * KiB, 'x\n'), Buffer.from([0])]));
    await expect(read({ path: 'bin' })).rejects.toThrow('bin is not a text file');
    await expect(read({ path: 'late', limit: 10_000 })).resolves.toMatchObject({});
    await expect(read({ path: 'late', offset: 51_201 })).rejects.toThrow('late is not a text file');
  });

  it.each([
    [{}, 'path is required'],
    [{ path: 7 }, 'path must be a string'],
    [{ path: 'x', offset: 0 }, 'offset must be an integer from 1'],
    [{ path: 'x', limit: 1.5 }, 'limit must be an integer from 1 to 10000'],
    [[], 'input must be an object'],
    [null, 'input must be an object'],
  ])('refuses %j', async (input, words) => {
    await expect(read(input as object)).rejects.toThrow(words);
  });

  it('stops when the call is canceled', async () => {
    await scratch.put('n', numbered(10));
    await expect(read({ path: 'n' }, AbortSignal.abort(new Error('canceled')))).rejects.toThrow('canceled');
  });
});
