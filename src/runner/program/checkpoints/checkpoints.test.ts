import { writeFileSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { call, ScratchRoot } from '../../../../test/runner/scratch-root.js';
import { CallEndedError, type ServedTool, ToolError } from '../../sdk/tool.js';
import { PathLocks } from '../path-locks.js';
import type { RootFolder } from '../root-folder.js';
import { servedTools } from '../served-tools.js';
import { type CheckpointName, Checkpoints } from './checkpoints.js';

let scratch: ScratchRoot;
let root: RootFolder;
let checkpoints: Checkpoints;
let logged: string[];

const log = (level: string, message: string): void => void logged.push(`${level} ${message}`);
const outside = (name: string): string => join(scratch.outside, name);
const open = (folder: string | undefined = outside('checkpoints')): Promise<Checkpoints | undefined> =>
  Checkpoints.open(root, folder, log);

beforeEach(async () => {
  logged = [];
  scratch = await ScratchRoot.make();
  root = await scratch.root();
  checkpoints = (await open()) as Checkpoints;
});
afterEach(async () => {
  await checkpoints.close();
  await scratch.remove();
});

function tool(name: string): ServedTool {
  const found = servedTools(root, { allowBash: true }, checkpoints).find((served) => served.name === name);
  if (!found) throw new Error(`There is no ${name}`);
  return found;
}

/** Calls a tool; answers the checkpoint that goes with its evidence. */
async function checkpointOf(name: string, input: object): Promise<CheckpointName> {
  const kept: unknown[] = [];
  await call(tool(name), input, { kept }).catch(() => undefined);
  expect(kept).toHaveLength(1);
  return kept[0] as CheckpointName;
}

const bash = (command: string): Promise<CheckpointName> => checkpointOf('bash', { command });

const restore = (checkpoint: unknown, kept: unknown[] = []) =>
  call(tool('checkpoint_restore'), { checkpoint }, { kept });

const text = (path: string): Promise<string> => readFile(scratch.at(path), 'utf8');
const isThere = (path: string): Promise<boolean> =>
  stat(scratch.at(path)).then(
    () => true,
    () => false,
  );

describe('A checkpoint', () => {
  it.each([
    ['write', { path: 'a.txt', content: 'new' }],
    ['edit', { path: 'a.txt', old_text: 'old', new_text: 'new' }],
    ['bash', { command: 'printf new > a.txt' }],
  ])('is taken before %s, and puts back what it changed', async (name, input) => {
    await scratch.put('a.txt', 'old');
    const checkpoint = await checkpointOf(name, input);
    expect(await text('a.txt')).toBe('new');
    expect(Object.keys(checkpoint)).toEqual(['id']);
    const answer = await restore(checkpoint);
    expect(answer).toMatchObject({
      content: 'Put back 1 file, removed 0 files.',
      structured_content: { written: ['a.txt'], removed: [], truncated: false },
    });
    expect(await text('a.txt')).toBe('old');
  });

  it('goes with the evidence of a call that throws, or is stopped', async () => {
    await scratch.put('a.txt', 'old');
    const thrown = await checkpointOf('edit', { path: 'a.txt', old_text: 'nothing', new_text: '' });
    const failing = await checkpointOf('bash', { command: 'printf new > a.txt; exit 3' });
    expect(thrown).toEqual(failing);
    const stop = new AbortController();
    const kept: unknown[] = [];
    const running = call(
      tool('bash'),
      { command: 'printf newer > a.txt; sleep 60' },
      { signal: stop.signal, kept },
    );
    while ((await text('a.txt')) !== 'newer') await new Promise((resolve) => setTimeout(resolve, 5));
    stop.abort(new CallEndedError('canceled', 'The call was canceled.'));
    await expect(running).rejects.toThrow();
    await restore(kept[0]);
    expect(await text('a.txt')).toBe('new');
    await restore(failing);
    expect(await text('a.txt')).toBe('old');
  });

  it('brings back what was deleted, removes what was made, and keeps names, bytes and the executable bit', async () => {
    const bytes = Buffer.from(Array.from({ length: 1_024 }, (_, index) => index % 256));
    const odd = 'a "b" \\c\nd é/:(glob)x.txt';
    await scratch.put('bytes.bin', bytes);
    await scratch.put(odd, 'odd');
    await scratch.put('crlf.txt', 'one\r\ntwo\n');
    await scratch.put('empty', '');
    await scratch.put('run.sh', '#!/bin/sh\n');
    await chmod(scratch.at('run.sh'), 0o755);
    const before = await bash(
      'rm -r *; mkdir -p made/deep && printf x > made/deep/new.txt && printf y > run.sh',
    );
    expect(await isThere(odd)).toBe(false);
    expect((await restore(before)).structured_content).toMatchObject({ removed: ['made/deep/new.txt'] });
    expect(await readFile(scratch.at('bytes.bin'))).toEqual(bytes);
    expect([await text(odd), await text('crlf.txt'), await text('empty')]).toEqual([
      'odd',
      'one\r\ntwo\n',
      '',
    ]);
    expect((await stat(scratch.at('run.sh'))).mode & 0o777).toBe(0o755);
    expect(await isThere('made/deep/new.txt')).toBe(false);
  });

  it('keeps who may read, write and execute a file: a secret that was deleted or opened up is one again', async () => {
    const modes: [string, number][] = [
      ['secret', 0o600],
      ['opened', 0o600],
      ['locked', 0o444],
      ['shared', 0o664],
      ['plain', 0o644],
      ['run.sh', 0o750],
      ['__proto__', 0o640],
    ];
    for (const [path, mode] of modes) {
      await scratch.put(path, path);
      await chmod(scratch.at(path), mode);
    }
    const before = await bash(
      'rm secret shared __proto__ run.sh; chmod 666 opened locked; printf x > locked; chmod 400 plain',
    );
    await restore(before);
    const found = modes.map(async ([path]) => [path, (await stat(scratch.at(path))).mode & 0o777]);
    expect(await Promise.all(found)).toEqual(modes);
    expect(await text('locked')).toBe('locked');
  });

  it('is undone by the checkpoint that its restoration left, and that again', async () => {
    await scratch.put('a.txt', 'one');
    const first = await bash('printf two > a.txt; printf b > b.txt');
    const kept: unknown[] = [];
    await restore(first, kept);
    expect([await text('a.txt'), await isThere('b.txt')]).toEqual(['one', false]);
    await restore(kept[0], kept);
    expect([await text('a.txt'), await text('b.txt')]).toEqual(['two', 'b']);
    await restore(kept[1]);
    expect([await text('a.txt'), await isThere('b.txt')]).toEqual(['one', false]);
  });

  it('is the same one while nothing changes, and says all that did', async () => {
    await scratch.put('a.txt', 'aaaa');
    const one = await bash('true');
    expect(await bash('true')).toEqual(one);
    // the same length, at once, with the time of before
    const other = await bash('touch -r a.txt t; printf bbbb > a.txt; touch -r t a.txt; rm t');
    expect(other).toEqual(one);
    expect(await bash('true')).not.toEqual(one);
    await restore(one);
    expect(await text('a.txt')).toBe('aaaa');
  });

  it('outlives the program', async () => {
    await scratch.put('a.txt', 'old');
    const checkpoint = await bash('printf new > a.txt');
    await checkpoints.close();
    checkpoints = (await open()) as Checkpoints;
    await restore(checkpoint);
    expect(await text('a.txt')).toBe('old');
    expect((await call(tool('checkpoints'), {})).structured_content).toEqual({
      checkpoints: [
        {
          checkpoint: { id: expect.any(String) },
          taken_at: expect.any(String),
          before: 'checkpoint_restore',
        },
        { checkpoint, taken_at: expect.any(String), before: 'bash' },
      ],
    });
  });

  it('is dropped, the oldest first, when a thousand newer ones are kept', async () => {
    await scratch.put('a.txt', 'old');
    const oldest = await bash('printf new > a.txt');
    const [store = ''] = await readdir(outside('checkpoints'));
    const git = ['--git-dir', outside(`checkpoints/${store}`)];
    const ref = `refs/checkpoints/${oldest.id}`;
    const commit = execFileSync('git', [...git, 'rev-parse', ref])
      .toString()
      .trim();
    const later = Array.from({ length: 1_000 }, (_, n) => `ffffffffffff-${String(n).padStart(16, '0')}`);
    const input = later.map((id) => `create refs/checkpoints/${id} ${commit}\n`).join('');
    execFileSync('git', [...git, 'update-ref', '--stdin'], { input });
    await checkpoints.close();
    checkpoints = (await open()) as Checkpoints;
    await expect(restore(oldest)).rejects.toThrow('checkpoint is not kept');
    await restore({ id: later[0] });
    expect(await text('a.txt')).toBe('old');
  });

  it('is taken for each of many calls at once', async () => {
    await Promise.all(
      Array.from({ length: 12 }, (_, n) => checkpointOf('write', { path: `${n}.txt`, content: `${n}` })),
    );
    const all = await bash('rm *.txt');
    await restore(all);
    expect((await readdir(scratch.path)).length).toBe(12);
    expect(await text('7.txt')).toBe('7');
  });
});

describe('What lies in the root folder is never run, followed or looked into', () => {
  it('filters, attributes and configuration of a hostile repository', async () => {
    const ran = outside('ran');
    execFileSync('git', ['init', '-q', scratch.path]);
    const git = (...args: string[]): unknown => execFileSync('git', ['-C', scratch.path, ...args]);
    for (const filter of ['clean', 'smudge', 'process'])
      git('config', `filter.evil.${filter}`, `touch ${ran}; cat`);
    git('config', 'core.fsmonitor', `touch ${ran}; false`);
    git('config', 'core.hooksPath', scratch.at('hooks'));
    for (const hook of ['reference-transaction', 'post-checkout', 'post-commit', 'pre-auto-gc']) {
      await scratch.put(`hooks/${hook}`, `#!/bin/sh\ntouch ${ran}\n`);
      await chmod(scratch.at(`hooks/${hook}`), 0o755);
    }
    await scratch.put('.gitattributes', '* filter=evil text eol=crlf ident working-tree-encoding=UTF-16\n');
    await scratch.put('a.txt', '$Id$ one\ntwo\n');
    const before = await bash('printf changed > a.txt');
    await restore(before);
    expect(await text('a.txt')).toBe('$Id$ one\ntwo\n');
    await expect(stat(ran)).rejects.toThrow('ENOENT');
  });

  it('nested repositories: their files are put back, their .git never touched', async () => {
    await scratch.put('nested/file.txt', 'old');
    execFileSync('git', ['init', '-q', scratch.at('nested')]);
    await scratch.put('nested/.git/note', 'theirs');
    const before = await bash(
      'printf new > nested/file.txt; printf changed > nested/.git/note; rm -r nested/.git/refs',
    );
    await restore(before);
    expect([await text('nested/file.txt'), await text('nested/.git/note')]).toEqual(['old', 'changed']);
    expect(await isThere('nested/.git/refs')).toBe(false);
  });

  it('symbolic links: neither what they name nor they themselves', async () => {
    await writeFile(outside('target.txt'), 'outside');
    await mkdir(outside('folder'));
    await symlink(outside('target.txt'), scratch.at('link.txt'));
    await symlink(outside('folder'), scratch.at('linked'));
    const before = await bash(`printf changed > ${outside('target.txt')}; printf x > linked/new.txt`);
    expect((await restore(before)).structured_content).toMatchObject({ written: [], removed: [] });
    expect(await readFile(outside('target.txt'), 'utf8')).toBe('changed');
    const [store = ''] = await readdir(outside('checkpoints'));
    const listing = ['--git-dir', outside(`checkpoints/${store}`), 'ls-tree', '-r'];
    expect(execFileSync('git', [...listing, `refs/checkpoints/${before.id}`]).toString()).toBe('');
  });

  it('a store that would lie in the root folder is refused', async () => {
    await expect(open(scratch.at('store'))).rejects.toThrow('lies in the root folder');
    await symlink(scratch.path, outside('way-in'));
    await expect(open(outside('way-in'))).rejects.toThrow('lies in the root folder');
    const [folder = ''] = await readdir(outside('checkpoints'));
    expect((await stat(outside(`checkpoints/${folder}`))).mode & 0o077).toBe(0);
  });
});

describe('A restoration is refused, and changes nothing, where a path is not in its undo', () => {
  const refused = async (checkpoint: unknown, words: string): Promise<void> => {
    const kept: unknown[] = [];
    const answer = restore(checkpoint, kept);
    await expect(answer).rejects.toThrow(ToolError);
    await expect(answer).rejects.toThrow(words);
  };

  it('a file that became a symbolic link', async () => {
    await scratch.put('a.txt', 'old');
    await scratch.put('b.txt', 'old');
    await writeFile(outside('target.txt'), 'outside');
    const before = await bash(`rm a.txt; ln -s ${outside('target.txt')} a.txt; printf new > b.txt`);
    await refused(before, 'a.txt is a symbolic link');
    expect([await text('b.txt'), await readFile(outside('target.txt'), 'utf8')]).toEqual(['new', 'outside']);
  });

  it('a folder that became a symbolic link', async () => {
    await scratch.put('folder/a.txt', 'old');
    await mkdir(outside('elsewhere'));
    const before = await bash(`rm -r folder; ln -s ${outside('elsewhere')} folder`);
    await refused(before, 'folder is a symbolic link');
    expect(await readdir(outside('elsewhere'))).toEqual([]);
  });

  it('a file that became too large', async () => {
    await scratch.put('a.txt', 'old');
    const before = await bash(`head -c 8388609 /dev/zero > a.txt`);
    await refused(before, 'a.txt is larger than 8 MiB');
    expect((await stat(scratch.at('a.txt'))).size).toBe(8_388_609);
  });

  it('a folder in the way that holds ignored files', async () => {
    await scratch.put('a', 'old');
    await scratch.put('.gitignore', '*.log\n');
    const before = await bash('rm a; mkdir a; printf kept > a/x.log; printf y > a/y.txt');
    await refused(before, 'a/x.log is ignored by .gitignore');
    expect([await text('a/x.log'), await text('a/y.txt')]).toEqual(['kept', 'y']);
    await rm(scratch.at('a/x.log'));
    await restore(before);
    expect(await text('a')).toBe('old');
  });

  it('a pipe', async () => {
    await scratch.put('a.txt', 'old');
    const before = await bash('rm a.txt; mkfifo a.txt');
    await refused(before, 'a.txt is neither file nor folder');
  });

  it.each([
    ['to be overwritten', 'a.txt', 'a.txt is being changed'],
    ['to be made', 'b.txt', 'b.txt appeared meanwhile'],
    ['to be removed', 'c.txt', 'c.txt is being changed'],
  ])('a file %s that somebody changes after the undo was taken', async (_, path, words) => {
    await scratch.put('a.txt', 'old');
    await scratch.put('b.txt', 'old');
    const before = await bash('printf new > a.txt; rm b.txt; printf c > c.txt');
    const change = (): void => writeFileSync(scratch.at(path), 'theirs');
    const restoring = checkpoints.restore(before, new PathLocks(), change, new AbortController().signal);
    await expect(restoring).rejects.toThrow(words);
    const now = await Promise.all(['a.txt', 'c.txt'].map(text));
    expect(now).toEqual([path === 'a.txt' ? 'theirs' : 'new', path === 'c.txt' ? 'theirs' : 'c']);
    expect(await isThere('b.txt')).toBe(path === 'b.txt');
  });

  it('a checkpoint of another root folder, of nobody, or none', async () => {
    for (const strange of [undefined, null, 7, {}, { id: '../../HEAD' }, { id: ['x'] }])
      await refused(strange, 'checkpoint is none of this runner’s');
    await refused(
      { id: '0190aaaaaaaa-0123456789abcdef' },
      'checkpoint is not kept, or is of another root folder',
    );
  });
});

describe('checkpoint_restore and checkpoints', () => {
  it('are operator capabilities, each with an honest effect profile', () => {
    for (const name of ['checkpoint_restore', 'checkpoints'])
      expect(Object.keys(tool(name)).sort()).toEqual(['effect_profile', 'handler', 'name', 'timeout_ms']);
    expect(tool('checkpoints').effect_profile).toMatchObject({ kind: 'read_only', idempotency: 'intrinsic' });
    expect(tool('checkpoint_restore').effect_profile).toEqual({
      kind: 'write',
      destructive: true,
      effect_scope: 'closed',
      idempotency: 'intrinsic',
      reconciliation: 'none',
    });
  });
});

describe('What .gitignore names', () => {
  beforeEach(() => scratch.put('.gitignore', 'build/\n.env\n'));

  it('is left out and left alone', async () => {
    await scratch.put('build/out.js', 'built');
    const before = await bash('printf rebuilt > build/out.js; printf b > b.txt');
    await restore(before);
    expect([await text('build/out.js'), await isThere('b.txt')]).toEqual(['rebuilt', false]);
  });

  it('is put back where a call names it', async () => {
    await scratch.put('.env', 'old');
    const changed = await checkpointOf('write', { path: '.env', content: 'new' });
    const made = await checkpointOf('write', { path: 'build/new.js', content: 'made' });
    await restore(made);
    expect([await text('.env'), await isThere('build/new.js')]).toEqual(['new', false]);
    await restore(changed);
    expect(await text('.env')).toBe('old');
  });

  it('is not removed when it is no longer named: it may have been there', async () => {
    await scratch.put('.env', 'theirs');
    const before = await bash('printf "" > .gitignore');
    await restore(before);
    expect([await text('.env'), await text('.gitignore')]).toEqual(['theirs', 'build/\n.env\n']);
  });

  it('may be named later: the undo holds it all the same', async () => {
    await scratch.put('a.txt', 'old');
    const before = await bash('printf new > a.txt; echo a.txt >> .gitignore');
    const kept: unknown[] = [];
    await restore(before, kept);
    expect(await text('a.txt')).toBe('old');
    await restore(kept[0]);
    expect(await text('a.txt')).toBe('new');
  });
});

describe('Where no checkpoint can be taken', () => {
  it('the call goes on with null, and that is logged', async () => {
    await scratch.put('large.bin', Buffer.alloc(8 * 1024 * 1024 + 1));
    expect(await checkpointOf('write', { path: 'large.bin', content: 'small' })).toBeNull();
    expect(await text('large.bin')).toBe('small');
    expect(logged).toEqual(['warn no checkpoint before write: large.bin is too large, or being changed']);
  });

  it('there are too many files', async () => {
    await mkdir(scratch.at('many'));
    execFileSync('bash', ['-c', 'cd "$0" && seq 20001 | xargs touch', scratch.at('many')]);
    expect(await bash('true')).toBeNull();
    expect(logged.join()).toContain('the root folder has more than 20000 entries');
  });

  it('git is missing: nothing is announced of it, and it is said once', async () => {
    const { PATH } = process.env;
    process.env['PATH'] = outside('nothing');
    try {
      expect(await open()).toBeUndefined();
    } finally {
      process.env['PATH'] = PATH;
    }
    expect(logged).toEqual([
      'warn git is not installed: no checkpoint is taken before a write, and nothing can be restored',
    ]);
    const names = servedTools(root, { allowBash: false }).map(({ name }) => name);
    expect(names).toEqual(['read', 'write', 'edit', 'ls', 'grep', 'files_bytes']);
  });
});
