import { execFileSync } from 'node:child_process';
import { link, mkdir, readdir, readFile, rename, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { call, ScratchRoot } from '../../../test/runner/scratch-root.js';
import type { ServedTool } from '../sdk/tool.js';
import { PathLocks } from './path-locks.js';
import { RootFolder } from './root-folder.js';
import { editTool } from './tools/edit.js';
import { filesBytesTool } from './tools/files-bytes.js';
import { grepTool } from './tools/grep.js';
import { lsTool } from './tools/ls.js';
import { readTool } from './tools/read.js';
import { writeTool } from './tools/write.js';

let scratch: ScratchRoot;
beforeEach(async () => {
  scratch = await ScratchRoot.make();
});
afterEach(() => scratch.remove());

function toolsOf(root: RootFolder): Record<string, (path: string) => Promise<unknown>> {
  const locks = new PathLocks();
  const calls =
    (tool: ServedTool, rest: object = {}) =>
    (path: string) =>
      call(tool, { path, ...rest });
  return {
    read: calls(readTool(root)),
    write: calls(writeTool(root, locks), { content: 'overwritten' }),
    edit: calls(editTool(root, locks), { old_text: 'secret', new_text: 'public' }),
    ls: calls(lsTool(root)),
    grep: calls(grepTool(root), { pattern: 'secret' }),
    files_bytes: calls(filesBytesTool(root)),
  };
}

const NAMES = ['read', 'write', 'edit', 'ls', 'grep', 'files_bytes'];

describe.each([
  ['where each step is opened in the folder before it', true],
  ['where what was opened is checked afterwards', false],
])('No path escapes the root folder, %s', (_, allowProc) => {
  it.each(NAMES)('of %s: neither by dots, nor by an absolute path, nor by NUL', async (name) => {
    const run = toolsOf(await scratch.root(allowProc))[name];
    for (const path of [
      '../secret.txt',
      '..',
      'a/../../secret.txt',
      join(scratch.outside, 'secret.txt'),
      '/etc/passwd',
      'a\0b',
    ]) {
      await expect(run?.(path)).rejects.toMatchObject({ name: 'ToolError' });
    }
    await unharmed();
  });

  it.each(NAMES)(
    'of %s: neither by a link to a file nor by a link to a folder, wherever it leads',
    async (name) => {
      await scratch.put('inside/secret.txt', 'a secret inside');
      await symlink('../secret.txt', scratch.at('file'));
      await symlink('..', scratch.at('up'));
      await symlink('inside', scratch.at('alias'));
      await symlink('/nowhere', scratch.at('dangling'));
      await symlink('self', scratch.at('self'));
      const run = toolsOf(await scratch.root(allowProc))[name];
      for (const path of ['file', 'up/secret.txt', 'up', 'alias', 'alias/secret.txt', 'dangling', 'self']) {
        await expect(run?.(path)).rejects.toThrow('is a symbolic link, and links are not followed');
      }
      await unharmed();
      expect(await readFile(scratch.at('inside/secret.txt'), 'utf8')).toBe('a secret inside');
    },
  );

  it('and a link to the root itself is resolved once, at the start', async () => {
    await scratch.put('a.txt', 'hello');
    await symlink('root', join(scratch.outside, 'door'));
    const root = await RootFolder.at(join(scratch.outside, 'door'), allowProc);
    expect(root.path).toBe(scratch.path);
    expect(await toolsOf(root)['read']?.('a.txt')).toMatchObject({ content: 'hello' });
  });
});

describe('A link swapped in while a call runs', () => {
  /** Swaps `name` between what it is and a link, as fast as it can, until told to stop. */
  async function swapping(name: string, target: string, during: () => Promise<void>): Promise<void> {
    let going = true;
    const swap = (async () => {
      await symlink(target, scratch.at('link'));
      while (going) {
        await rename(scratch.at(name), scratch.at('away'));
        // A write may have made the missing name anew meanwhile.
        while (!(await renamed('link', name))) await rm(scratch.at(name), { recursive: true, force: true });
        await rename(scratch.at(name), scratch.at('link'));
        while (!(await renamed('away', name))) await rm(scratch.at(name), { recursive: true, force: true });
      }
    })();
    try {
      await during();
    } finally {
      going = false;
      await swap;
    }
  }

  const renamed = (from: string, to: string): Promise<boolean> =>
    rename(scratch.at(from), scratch.at(to)).then(
      () => true,
      () => false,
    );

  it('for a folder on the way never lets a read or a write out', async () => {
    await scratch.put('folder/secret.txt', 'inside');
    const { read, write } = toolsOf(await scratch.root());
    const answers = new Set<string>();
    await swapping('folder', '..', async () => {
      for (let n = 0; n < 400; n += 1) {
        const got = await read?.('folder/secret.txt').catch((fault: Error) => fault.message);
        answers.add(typeof got === 'string' ? got : (got as { content: string }).content);
        await write?.('folder/secret.txt').catch(() => undefined);
        await write?.('folder/new.txt').catch(() => undefined);
      }
    });
    expect([...answers]).not.toContain(ScratchRoot.SECRET);
    expect(answers.has('inside') || answers.has('overwritten')).toBe(true);
    await unharmed();
    expect((await readdir(scratch.outside)).sort()).toEqual(['root', 'secret.txt']);
  });

  it('for the file itself never lets a read, a write or an edit out', async () => {
    await scratch.put('file.txt', 'inside');
    const { read, write, edit } = toolsOf(await scratch.root());
    const answers = new Set<string>();
    await swapping('file.txt', '../secret.txt', async () => {
      for (let n = 0; n < 400; n += 1) {
        const got = await read?.('file.txt').catch((fault: Error) => fault.message);
        answers.add(typeof got === 'string' ? got : (got as { content: string }).content);
        await write?.('file.txt').catch(() => undefined);
        await edit?.('file.txt').catch(() => undefined);
      }
    });
    expect([...answers]).not.toContain(ScratchRoot.SECRET);
    await unharmed();
  });
});

describe('What is no regular file', () => {
  it('is refused at once: a pipe is not waited for, a device not read', async () => {
    execFileSync('mkfifo', [scratch.at('pipe')]);
    const { read, write, edit, files_bytes: bytes } = toolsOf(await scratch.root());
    for (const run of [read, write, edit, bytes])
      await expect(run?.('pipe')).rejects.toThrow('is not a regular file');
  });

  it('is called what it is', async () => {
    await mkdir(scratch.at('folder'));
    await scratch.put('file', 'x');
    const { read, write, ls } = toolsOf(await scratch.root());
    await expect(read?.('folder')).rejects.toThrow('folder is a folder, not a file');
    await expect(write?.('folder')).rejects.toThrow('folder is a folder, not a file');
    await expect(ls?.('file')).rejects.toThrow('file is not a folder');
    await expect(read?.('file/below')).rejects.toThrow('file is not a folder');
    await expect(read?.('gone')).rejects.toThrow('gone does not exist');
    await expect(read?.('gone/below')).rejects.toThrow('gone does not exist');
    await expect(write?.('.')).rejects.toThrow('path names the root folder itself');
    await expect(read?.('n'.repeat(300))).rejects.toThrow('too long');
  });

  it('is not changed through a second name outside: a write makes a new file', async () => {
    await link(join(scratch.outside, 'secret.txt'), scratch.at('hard'));
    await toolsOf(await scratch.root())['write']?.('hard');
    await unharmed();
  });

  it('is a root that is no folder', async () => {
    await writeFile(scratch.at('x'), '');
    await expect(RootFolder.at(scratch.at('x'))).rejects.toThrow('ENOTDIR');
    await expect(RootFolder.at(scratch.at('y'))).rejects.toThrow('ENOENT');
  });

  it('may be put in the place of the root while the runner runs: then nothing is served from elsewhere', async () => {
    await scratch.put('a', 'x');
    const { read } = toolsOf(await scratch.root());
    await rm(scratch.path, { recursive: true });
    await symlink('.', scratch.path);
    await expect(read?.('secret.txt')).rejects.toThrow();
    await unlink(scratch.path);
  });
});

async function unharmed(): Promise<void> {
  expect(await readFile(join(scratch.outside, 'secret.txt'), 'utf8')).toBe(ScratchRoot.SECRET);
}
