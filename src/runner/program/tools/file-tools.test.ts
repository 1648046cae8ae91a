import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { call, ScratchRoot } from '../../../../test/runner/scratch-root.js';
import { PathLocks } from '../path-locks.js';
import type { RootFolder } from '../root-folder.js';
import { editTool, replaced } from './edit.js';
import { filesBytesTool } from './files-bytes.js';
import { grepTool } from './grep.js';
import { lsTool } from './ls.js';
import { readTool } from './read.js';
import { writeTool } from './write.js';

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
    ).rejects.toThrow();
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

describe('files_bytes', () => {
  const bytes = (input: object) => call(filesBytesTool(root), input);

  it('answers bytes in base64, from where it is asked', async () => {
    await scratch.put('b', Buffer.from([0, 1, 2, 250]));
    expect((await bytes({ path: 'b', offset: 1, length: 2 })).structured_content).toEqual({
      path: 'b',
      offset: 1,
      length: 2,
      size: 4,
      base64: Buffer.from([1, 2]).toString('base64'),
    });
    expect((await bytes({ path: 'b', offset: 9 })).structured_content).toMatchObject({
      length: 0,
      size: 4,
      base64: '',
    });
  });

  it('answers at most 512 KiB, which fits a result in base64', async () => {
    await scratch.put('big', Buffer.alloc(600 * KiB, 7));
    const result = await bytes({ path: 'big' });
    expect(result.structured_content).toMatchObject({ length: 512 * KiB, size: 600 * KiB });
    expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThan(768 * KiB);
    await expect(bytes({ path: 'big', length: 512 * KiB + 1 })).rejects.toThrow(
      'length must be an integer from 1 to 524288',
    );
  });
});
