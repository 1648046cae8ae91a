import { createHash } from 'node:crypto';
import type { Stats } from 'node:fs';
import type { RootFolder } from '../root-folder.js';
import {
  blobCommand,
  blobId,
  type CheckpointNotes,
  checkpointCommand,
  type CheckpointStore,
  newCheckpointId,
  type StoredFile,
} from './checkpoint-store.js';
import type { Git } from './git.js';
import { type LeftOut, unfit } from './left-out.js';
import { CheckpointFault, type RootScan, scanRoot } from './root-scan.js';

/** New content that one checkpoint may bring, in bytes. */
const MOST_NEW_BYTES = 256 * 1024 * 1024;
/** Files that are read at once, of 8 MiB at most. */
const READ_AT_ONCE = 16;
/** How long a checkpoint may take. */
const MOST_MS = 20_000;
/** After one that took too long no other is tried for so long: each call would wait for nothing. */
const PAUSE_MS = 60_000;
/** A file that changed so shortly before it was read may change again without a trace, by a clock that is coarse. */
const SETTLES_AFTER_MS = 1_000;

/** A file of the root folder as a checkpoint holds it, and what it was when it was read. */
export interface TakenFile extends StoredFile {
  readonly stats: Stats;
  readonly settled: boolean;
}

/** A checkpoint that was just taken. */
export interface Snapshot {
  readonly id: string;
  readonly files: ReadonlyMap<string, TakenFile>;
  readonly leftOut: ReadonlyMap<string, LeftOut>;
}

/** Takes checkpoints of a root folder. What did not change since the last one is not read again. */
export class Snapshots {
  private pausedUntil = 0;
  private last: { readonly snapshot: Snapshot; readonly digest: string } | undefined;

  constructor(
    private readonly root: RootFolder,
    private readonly git: Git,
    private readonly store: CheckpointStore,
  ) {}

  /**
   * A checkpoint of what is there now, and of the paths of `also` in any case; the last one where nothing has changed. Throws
   * `CheckpointFault` beyond its bounds, and the reason of an aborted signal.
   */
  async take(before: string, also: Iterable<string>, ended: AbortSignal): Promise<Snapshot> {
    if (Date.now() < this.pausedUntil) throw new CheckpointFault('the last one took too long');
    const timeout = AbortSignal.timeout(MOST_MS);
    const signal = AbortSignal.any([ended, timeout]);
    try {
      return await this.taken(before, also, signal);
    } catch (fault) {
      ended.throwIfAborted();
      if (timeout.aborted) {
        this.pausedUntil = Date.now() + PAUSE_MS;
        throw new CheckpointFault(`it takes longer than ${MOST_MS / 1_000} s`);
      }
      // what was thought to be stored may be gone: next time everything is read anew
      this.last = undefined;
      throw fault;
    }
  }

  private async taken(before: string, also: Iterable<string>, signal: AbortSignal): Promise<Snapshot> {
    const scan = await scanRoot(this.root, this.git, also, signal);
    const files = new Map<string, TakenFile>();
    let made: { readonly id: string; readonly digest: string } | undefined;
    const commands = async function* (this: Snapshots): AsyncGenerator<string | Buffer> {
      yield* this.contents(scan, files, signal);
      const notes = { before, leftOut: Object.fromEntries(scan.leftOut), absent: scan.absent };
      const digest = digestOf(files, notes);
      if (digest !== this.last?.digest) {
        made = { id: newCheckpointId(), digest };
        yield* checkpointCommand(made.id, files, notes);
      }
      yield 'done\n';
    };
    await this.store.import(commands.call(this), signal);
    const { id, digest } = made ?? { id: this.last?.snapshot.id ?? '', digest: this.last?.digest ?? '' };
    const snapshot = { id, files, leftOut: scan.leftOut };
    this.last = { snapshot, digest };
    return snapshot;
  }

  /** Reads what is new, for `fast-import`; every file that is still one goes to `files`. */
  private async *contents(
    { files: found, leftOut }: RootScan,
    files: Map<string, TakenFile>,
    signal: AbortSignal,
  ): AsyncGenerator<string | Buffer> {
    let bytesRead = 0;
    const changed: string[] = [];
    for (const [path, stats] of found) {
      const known = this.last?.snapshot.files.get(path);
      if (known?.settled && isUnchanged(known.stats, stats)) files.set(path, known);
      else changed.push(path);
    }
    while (changed.length > 0) {
      signal.throwIfAborted();
      const paths = changed.splice(0, READ_AT_ONCE);
      const results = await Promise.all(paths.map((path) => this.read(path)));
      for (const [index, path] of paths.entries()) {
        const read = results[index] ?? 'unreadable';
        if (typeof read === 'string') {
          leftOut.set(path, read);
          continue;
        }
        const { bytes, ...file } = read;
        bytesRead += bytes.length;
        if (bytesRead > MOST_NEW_BYTES)
          throw new CheckpointFault('there is more than 256 MiB of new content');
        files.set(path, file);
        yield* blobCommand(bytes);
      }
    }
  }

  private async read(path: string): Promise<(TakenFile & { readonly bytes: Buffer }) | LeftOut> {
    const handle = await this.root.file(path).catch(() => undefined);
    if (!handle) return 'unreadable';
    try {
      const stats = await handle.stat();
      const reason = unfit(stats);
      if (reason) return reason;
      const bytes = await handle.readFile();
      const settled = stats.ctimeMs < Date.now() - SETTLES_AFTER_MS;
      if (!isUnchanged(stats, await handle.stat())) return 'changing';
      return { bytes, oid: blobId(bytes), mode: stats.mode & 0o777, stats, settled };
    } finally {
      await handle.close();
    }
  }
}

/** Names what a checkpoint says, in whatever order it was found; what is about to happen does not count. */
function digestOf(files: ReadonlyMap<string, StoredFile>, { leftOut, absent }: CheckpointNotes): string {
  const held = [...files].map(([path, { oid, mode }]) => JSON.stringify([path, oid, mode]));
  const lacking = Object.entries(leftOut).map((entry) => JSON.stringify(entry));
  const all = [...held.sort(), ...lacking.sort(), JSON.stringify([...absent].sort())];
  return createHash('sha256').update(all.join('\n')).digest('hex');
}

/** Whether a file is still what it was, by all that the file system says of it. */
export const isUnchanged = (one: Stats, other: Stats): boolean =>
  one.ino === other.ino &&
  one.dev === other.dev &&
  one.size === other.size &&
  one.mode === other.mode &&
  one.mtimeMs === other.mtimeMs &&
  one.ctimeMs === other.ctimeMs;
