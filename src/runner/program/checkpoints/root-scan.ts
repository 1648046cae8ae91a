import type { Stats } from 'node:fs';
import { type OpenFolder, type RootFolder } from '../root-folder.js';
import { entriesOf } from '../tools/ls.js';
import type { Git } from './git.js';
import { isRepository, type LeftOut, unfit } from './left-out.js';

/** A checkpoint of a root folder with more entries than this is not taken. */
const MOST_ENTRIES = 20_000;

/** Why no checkpoint could be taken. */
export class CheckpointFault extends Error {
  override readonly name = 'CheckpointFault';
}

/** What lies below a root folder, by path: the files that a checkpoint holds, and what it leaves out and why. */
export interface RootScan {
  readonly files: Map<string, Stats>;
  readonly leftOut: Map<string, LeftOut>;
  /** Those of the paths asked for that are not there. */
  readonly absent: string[];
}

/**
 * Looks through a root folder: no link is followed, no nested repository is looked into, and what a `.gitignore` names is left
 * out, but for the paths of `also`. Throws `CheckpointFault` where there is too much.
 */
export async function scanRoot(
  root: RootFolder,
  git: Git,
  also: Iterable<string>,
  signal: AbortSignal,
): Promise<RootScan> {
  const scan: RootScan = { files: new Map(), leftOut: new Map(), absent: [] };
  for (let level = ['.']; level.length > 0;) {
    const found = new Map<string, Stats>();
    for (const path of level) await lookThrough(root, path, found, scan, signal);
    level = await sorted(found, scan, git, signal);
  }
  for (const path of also) {
    signal.throwIfAborted();
    if (!scan.files.has(path)) await lookAt(root, path, scan);
  }
  return scan;
}

/** What a folder holds: files and folders go to `found`, the rest is left out. */
async function lookThrough(
  root: RootFolder,
  path: string,
  found: Map<string, Stats>,
  { files, leftOut }: RootScan,
  signal: AbortSignal,
): Promise<void> {
  const folder = await root.folder(path).catch(() => undefined);
  if (!folder) return void leftOut.set(path, 'unreadable');
  try {
    const { entries } = await entriesOf(folder, signal);
    if (files.size + leftOut.size + found.size + entries.length > MOST_ENTRIES) {
      throw new CheckpointFault(`the root folder has more than ${MOST_ENTRIES} entries`);
    }
    const looks = await Promise.all(
      entries.map(async ({ name }) =>
        isRepository(name) ? undefined : folder.look(name).catch(() => undefined),
      ),
    );
    // in the order of the names: what is the same twice reads the same twice
    for (const [index, { name }] of entries.entries()) {
      const stats = looks[index];
      const reason = stats?.isDirectory() ? undefined : reasonOf(name, stats);
      if (reason) leftOut.set(folder.show(name), reason);
      else if (stats) found.set(folder.show(name), stats);
    }
  } finally {
    await folder.close();
  }
}

const reasonOf = (name: string, stats: Stats | undefined): LeftOut | undefined =>
  isRepository(name) ? 'repository' : stats ? unfit(stats) : 'unreadable';

/** Takes the files that are not ignored; answers the folders that are not. */
async function sorted(
  found: ReadonlyMap<string, Stats>,
  { files, leftOut }: RootScan,
  git: Git,
  signal: AbortSignal,
): Promise<string[]> {
  const ignored = await ignoredOf(git, found, signal);
  const folders: string[] = [];
  for (const [path, stats] of found) {
    if (ignored.has(path)) leftOut.set(path, 'ignored');
    else if (stats.isDirectory()) folders.push(path);
    else files.set(path, stats);
  }
  return folders;
}

/** Those that a `.gitignore` of the work tree names. */
async function ignoredOf(
  git: Git,
  found: ReadonlyMap<string, Stats>,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  if (found.size === 0) return new Set();
  // a leading `./` keeps a name such as `:(glob)x` a name
  const input = [...found].map(([path, stats]) => `./${path}${stats.isDirectory() ? '/' : ''}\0`);
  const args = [`--work-tree=${git.workTree}`, 'check-ignore', '--no-index', '--stdin', '-z'];
  const answer = await git.text(args, { input, signal, expected: [0, 1] });
  return new Set(answer.split('\0').map((path) => path.replace(/^\.\//, '').replace(/\/$/, '')));
}

/** A path that was asked for counts although it is ignored. */
async function lookAt(root: RootFolder, path: string, { files, leftOut, absent }: RootScan): Promise<void> {
  const found = await whatIsAt(root, path);
  if (found === undefined) absent.push(path);
  else if (found.path === path && !found.stats.isDirectory()) {
    const reason = unfit(found.stats);
    if (reason) leftOut.set(path, reason);
    else {
      leftOut.delete(path);
      files.set(path, found.stats);
    }
  }
}

/**
 * What stands at a path, or on the way to it where the way ends before: a file, a link. Undefined where nothing does.
 */
export async function whatIsAt(
  root: RootFolder,
  path: string,
): Promise<{ readonly path: string; readonly stats: Stats } | undefined> {
  const names = path.split('/');
  let folder: OpenFolder = await root.folder('.');
  try {
    for (const [index, name] of names.entries()) {
      const stats = await folder.look(name);
      if (!stats) return undefined;
      const isLast = index === names.length - 1;
      if (isLast || !stats.isDirectory()) return { path: folder.show(name), stats };
      const above = folder;
      folder = await above.folder(name);
      await above.close();
    }
    return undefined;
  } finally {
    await folder.close();
  }
}
