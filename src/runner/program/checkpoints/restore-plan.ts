import type { Checkpoint, StoredFile } from './checkpoint-store.js';
import { isWithin } from './left-out.js';
import type { Snapshot } from './snapshot.js';

/** What makes the root folder what a checkpoint says. */
export interface RestorePlan {
  /** Files that were not there: each is in the undo. */
  readonly removals: readonly string[];
  readonly writes: readonly (StoredFile & { readonly path: string })[];
}

/**
 * Plans from what a checkpoint holds and what is there now. A file that is only there now is removed, unless the checkpoint
 * left it out, or what it lies in: then it may have been there, and nobody knows what it was.
 */
export function planRestore(checkpoint: Checkpoint, now: Pick<Snapshot, 'files'>): RestorePlan {
  const absent = new Set(checkpoint.absent);
  const leftOut = new Set(Object.keys(checkpoint.leftOut));
  const wasLeftOut = (path: string): boolean =>
    !absent.has(path) && (leftOut.has(path) || ancestors(path).some((folder) => leftOut.has(folder)));
  return {
    removals: [...now.files.keys()].filter((path) => !checkpoint.files.has(path) && !wasLeftOut(path)),
    writes: [...checkpoint.files].flatMap(([path, file]) => {
      const there = now.files.get(path);
      const isSame = there?.oid === file.oid && there.mode === file.mode;
      return isSame ? [] : [{ path, ...file }];
    }),
  };
}

/** The folders on the way to a path. */
function ancestors(path: string): string[] {
  const names = path.split('/').slice(0, -1);
  return names.map((_, index) => names.slice(0, index + 1).join('/'));
}

/** Whether something that is not removed keeps `folder` from being emptied: what was left out of the undo, or is no file of it. */
export function holdsMore(folder: string, { leftOut }: Pick<Snapshot, 'leftOut'>): string | undefined {
  return [...leftOut.keys()].find((path) => isWithin(path, folder));
}
