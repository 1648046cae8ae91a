import type { Stats } from 'node:fs';
import { rmdir, unlink } from 'node:fs/promises';
import { ToolError } from '../../sdk/tool.js';
import type { PathLocks } from '../path-locks.js';
import { replaceFile } from '../replace-file.js';
import type { OpenFolder, RootFolder } from '../root-folder.js';
import { entriesOf } from '../tools/ls.js';
import type { CheckpointStore } from './checkpoint-store.js';
import { LEFT_OUT_WORDS } from './left-out.js';
import { holdsMore, type RestorePlan } from './restore-plan.js';
import { whatIsAt } from './root-scan.js';
import { isUnchanged, type Snapshot } from './snapshot.js';

/**
 * Carries out a plan below one root folder. Invariant: nothing is overwritten or removed that is not in the undo just as it is;
 * where that is known beforehand, nothing is done at all.
 */
export class Restore {
  private readonly removed: ReadonlySet<string>;

  constructor(
    private readonly root: RootFolder,
    private readonly locks: PathLocks,
    private readonly plan: RestorePlan,
    private readonly undo: Snapshot,
    private readonly signal: AbortSignal,
  ) {
    this.removed = new Set(plan.removals);
  }

  /** Throws `ToolError` for a path that can't be restored without losing what the undo does not hold. */
  async check(): Promise<void> {
    for (const path of this.plan.removals) await this.requireUnchanged(path);
    for (const { path } of this.plan.writes) {
      this.signal.throwIfAborted();
      if (this.undo.files.has(path)) await this.requireUnchanged(path);
      else await this.requireRoom(path);
    }
  }

  /** Throws `ToolError` for a file that changed since the undo was taken; what was done before stays done. */
  async carryOut(store: CheckpointStore): Promise<void> {
    for (const path of this.plan.removals) await this.locks.hold(path, () => this.remove(path));
    const { writes } = this.plan;
    const oids = writes.map(({ oid }) => oid);
    let next = 0;
    for await (const bytes of store.contents(oids, this.signal)) {
      const file = writes[next];
      if (!file) break;
      await this.locks.hold(file.path, () => this.put(file.path, bytes, file.mode));
      next += 1;
    }
    if (next < writes.length) throw new Error('the store is damaged: it ends early');
  }

  private async requireUnchanged(path: string): Promise<Stats> {
    const found = await whatIsAt(this.root, path);
    const known = this.undo.files.get(path);
    if (known && found?.path === path && isUnchanged(known.stats, found.stats)) return known.stats;
    throw refused(path, 'is being changed');
  }

  /** For a file that is not in the undo: nothing may stand in its way but what is removed anyway. */
  private async requireRoom(path: string): Promise<void> {
    const found = await whatIsAt(this.root, path);
    if (found === undefined || this.removed.has(found.path)) return;
    const inTheWay = found.stats.isDirectory() ? holdsMore(found.path, this.undo) : found.path;
    if (inTheWay === undefined) return;
    const reason = this.undo.leftOut.get(inTheWay);
    throw refused(inTheWay, reason ? LEFT_OUT_WORDS[reason] : 'appeared meanwhile');
  }

  private async remove(path: string): Promise<void> {
    this.signal.throwIfAborted();
    await this.requireUnchanged(path);
    await this.within(path, (folder, name) => unlink(folder.entry(name)));
  }

  private async put(path: string, bytes: Buffer, mode: number): Promise<void> {
    this.signal.throwIfAborted();
    const read = this.undo.files.has(path) ? await this.requireUnchanged(path) : undefined;
    await this.within(path, async (folder, name) => {
      if (read) await replaceFile(folder, name, bytes, this.signal, { read, restored: { mode } });
      else await this.make(folder, name, bytes, mode);
    });
  }

  /** Makes a file where there is none, never readable to more than its mode says; folders that are empty by now make room. */
  private async make(folder: OpenFolder, name: string, bytes: Buffer, mode: number): Promise<void> {
    if ((await folder.look(name))?.isDirectory()) await this.removeEmpty(folder, name);
    const handle = await folder.create(name, 0o600);
    try {
      await handle.writeFile(bytes);
      await handle.chmod(mode);
      await handle.sync();
    } catch (fault) {
      await unlink(folder.entry(name)).catch(() => undefined);
      throw fault;
    } finally {
      await handle.close();
    }
  }

  /** Throws where a folder holds anything but empty folders. */
  private async removeEmpty(above: OpenFolder, name: string): Promise<void> {
    const folder = await above.folder(name);
    try {
      const { entries } = await entriesOf(folder, this.signal);
      for (const entry of entries) {
        if (!entry.isDirectory()) throw refused(folder.show(entry.name), 'appeared meanwhile');
        await this.removeEmpty(folder, entry.name);
      }
    } finally {
      await folder.close();
    }
    await rmdir(above.entry(name));
  }

  private async within(
    path: string,
    act: (folder: OpenFolder, name: string) => Promise<unknown>,
  ): Promise<void> {
    const { folder, name } = await this.root.holderOf(path, { create: true });
    try {
      await act(folder, name);
    } finally {
      await folder.close();
    }
  }
}

const refused = (path: string, why: string): ToolError =>
  new ToolError(
    `${path} ${why}: what is there is not in the undo checkpoint, so it is neither overwritten nor removed`,
  );
