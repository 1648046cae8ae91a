import { ToolError } from '../../sdk/tool.js';
import type { Log } from '../../sdk/log.js';
import { PathLocks } from '../path-locks.js';
import type { RootFolder } from '../root-folder.js';
import { CheckpointStore, isCheckpointId, takenAt } from './checkpoint-store.js';
import { Git } from './git.js';
import { Restore } from './restore.js';
import { planRestore } from './restore-plan.js';
import { CheckpointFault } from './root-scan.js';
import { Snapshots } from './snapshot.js';
import { storeFolder } from './store-folder.js';

/** The store is tidied after so many checkpoints. */
const TIDIED_AFTER = 200;
/** Making a store takes no longer. */
const INIT_MS = 10_000;

/** A checkpoint as Nexus keeps it, and gives it back: nobody but this program knows what it says. */
export interface CheckpointName {
  readonly id: string;
}

/** What a restoration did. */
export interface Restored {
  readonly written: readonly string[];
  readonly removed: readonly string[];
}

/**
 * Checkpoints of one root folder (chapter 7, Restore), in a git store outside of it. Invariant: one is taken, or put back, at a
 * time; git never looks at the root folder itself but for its `.gitignore` files, and what is put back can be undone.
 */
export class Checkpoints {
  private readonly turns = new PathLocks();
  private readonly closing = new AbortController();
  private taken = 0;

  private constructor(
    private readonly root: RootFolder,
    private readonly store: CheckpointStore,
    private readonly snapshots: Snapshots,
    private readonly log: Log,
  ) {}

  /**
   * The checkpoints of `root`, kept below `folder`, or below `~/.nexus/checkpoints`. Undefined, and said once, where there can
   * be none; throws for a `folder` that was asked for and lies in the root folder.
   */
  static async open(
    root: RootFolder,
    folder: string | undefined,
    log: Log,
  ): Promise<Checkpoints | undefined> {
    if (!(await Git.isInstalled())) {
      log('warn', 'git is not installed: no checkpoint is taken before a write, and nothing can be restored');
      return undefined;
    }
    let git: Git;
    try {
      git = new Git(await storeFolder(root.path, folder), root.path);
      await git.init(AbortSignal.timeout(INIT_MS));
    } catch (fault) {
      if (folder !== undefined) throw fault;
      log(
        'warn',
        `no checkpoint is taken before a write, and nothing can be restored: ${(fault as Error).message}`,
      );
      return undefined;
    }
    const store = new CheckpointStore(git);
    const checkpoints = new Checkpoints(root, store, new Snapshots(root, git, store), log);
    checkpoints.tidyInTurn();
    return checkpoints;
  }

  /**
   * Takes a checkpoint before a tool may write, of `paths` in any case. Null, and logged, where there is none that could put
   * those back. Throws only the reason of an aborted signal.
   */
  async before(tool: string, paths: readonly string[], signal: AbortSignal): Promise<CheckpointName | null> {
    try {
      const { id, leftOut } = await this.inTurn(signal, () => this.snapshots.take(tool, paths, signal));
      const lost = paths.find((path) => ['large', 'changing'].includes(leftOut.get(path) ?? ''));
      if (lost !== undefined) throw new CheckpointFault(`${lost} is too large, or being changed`);
      this.count();
      return { id };
    } catch (fault) {
      signal.throwIfAborted();
      this.log('warn', `no checkpoint before ${tool}: ${(fault as Error).message}`);
      return null;
    }
  }

  /**
   * Puts the root folder back to a checkpoint. `undoable` hears of the undo before anything changes. Throws `ToolError` where
   * nothing was done, and where a file changed meanwhile.
   */
  async restore(
    checkpoint: unknown,
    locks: PathLocks,
    undoable: (undo: CheckpointName) => void,
    signal: AbortSignal,
  ): Promise<Restored> {
    const id = (checkpoint as Partial<CheckpointName> | null | undefined)?.id;
    if (!isCheckpointId(id)) throw new ToolError('checkpoint is none of this runner’s');
    return this.inTurn(signal, async () => {
      const wanted = await this.store.read(id, signal);
      if (!wanted) throw new ToolError('checkpoint is not kept, or is of another root folder');
      const also = [...wanted.files.keys(), ...wanted.absent];
      const undo = await this.snapshots.take('checkpoint_restore', also, signal).catch((fault: unknown) => {
        if (!(fault instanceof CheckpointFault)) throw fault;
        throw new ToolError(`no undo checkpoint could be taken, so nothing was changed: ${fault.message}`);
      });
      undoable({ id: undo.id });
      this.count();
      const plan = planRestore(wanted, undo);
      const restore = new Restore(this.root, locks, plan, undo, signal);
      await restore.check();
      await restore.carryOut(this.store);
      return { written: plan.writes.map(({ path }) => path), removed: plan.removals };
    });
  }

  /** The newest checkpoints, newest first. */
  async list(most: number, signal: AbortSignal): Promise<object[]> {
    const found = await this.store.list(most, signal);
    return found.map(({ id, before }) => ({
      checkpoint: { id },
      taken_at: takenAt(id).toISOString(),
      before,
    }));
  }

  /** Resolves when nothing is under way any more; tidying up is left for another time. */
  async close(): Promise<void> {
    this.closing.abort();
    await this.turns.hold('store', () => Promise.resolve());
  }

  private inTurn<Value>(signal: AbortSignal, work: () => Promise<Value>): Promise<Value> {
    return this.turns.hold('store', () => {
      signal.throwIfAborted();
      return work();
    });
  }

  private count(): void {
    this.taken += 1;
    if (this.taken % TIDIED_AFTER === 0) this.tidyInTurn();
  }

  private tidyInTurn(): void {
    this.turns
      .hold('store', () => this.store.tidy(this.closing.signal))
      .catch((fault: Error) => {
        if (this.closing.signal.aborted) return;
        this.log('warn', `the store of checkpoints could not be tidied: ${fault.message}`);
      });
  }
}
