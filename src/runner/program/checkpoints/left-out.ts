import type { Stats } from 'node:fs';

/** Larger files are left out of checkpoints. */
const MOST_FILE_BYTES = 8 * 1024 * 1024;

/** Why something below the root folder is not in a checkpoint. */
export type LeftOut = 'ignored' | 'link' | 'repository' | 'special' | 'large' | 'changing' | 'unreadable';

/** The reason in words, after the path. */
export const LEFT_OUT_WORDS: Readonly<Record<LeftOut, string>> = {
  ignored: 'is ignored by .gitignore',
  link: 'is a symbolic link',
  repository: 'is a git repository’s own',
  special: 'is neither file nor folder',
  large: 'is larger than 8 MiB',
  changing: 'is being changed',
  unreadable: 'may not be read',
};

/** What speaks against a file by what it is; undefined for a regular one that is not too large. */
export function unfit(stats: Stats): LeftOut | undefined {
  if (stats.isSymbolicLink()) return 'link';
  if (!stats.isFile()) return 'special';
  return stats.size > MOST_FILE_BYTES ? 'large' : undefined;
}

/** A repository's own files are its own: git in the work tree keeps them, not a checkpoint. */
export const isRepository = (name: string): boolean => name.toLowerCase() === '.git';

/** Whether `path` is `above`, or lies below it. */
export const isWithin = (path: string, above: string): boolean =>
  path === above || path.startsWith(`${above}/`);
