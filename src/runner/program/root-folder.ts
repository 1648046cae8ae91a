import { constants, type Stats } from 'node:fs';
import { access, type FileHandle, lstat, mkdir, open, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { ToolError } from '../sdk/tool.js';
import { namesBelow } from './root-path.js';

const { O_CREAT, O_DIRECTORY = 0, O_EXCL, O_NOFOLLOW = 0, O_NONBLOCK = 0, O_RDONLY, O_WRONLY } = constants;

/** `each_step`: every name is opened in the opened folder above it. `after_opening`: checked when it is open. */
export type Confinement = 'each_step' | 'after_opening';

/**
 * The one folder that the file tools reach. Invariant: nothing outside it is opened, whatever a path says and whoever
 * swaps a name for a symbolic link meanwhile, because no link is followed at all: each name on the way is opened with
 * `O_NOFOLLOW` inside the folder opened before it (on Linux through `/proc/self/fd`). Where there is no such thing, the
 * opened file is compared with what its path names afterwards, which leaves a race: the program says so.
 */
export class RootFolder {
  private constructor(
    /** Absolute, itself free of symbolic links. */
    readonly path: string,
    readonly confinement: Confinement,
  ) {}

  /** Throws when `path` is no folder that can be entered. */
  static async at(path: string, allowProc = true): Promise<RootFolder> {
    const real = await realpath(path);
    const hasProc = allowProc && process.platform === 'linux' && (await reachable('/proc/self/fd'));
    const root = new RootFolder(real, hasProc ? 'each_step' : 'after_opening');
    await (await root.folder('.')).close();
    return root;
  }

  /** The path below the root, with `/`, `.` for the root itself. */
  relative(path: string): string {
    return namesBelow(this.path, path).join('/') || '.';
  }

  /** Opens a folder. The caller closes it. */
  folder(path: string): Promise<OpenFolder> {
    return this.walk(namesBelow(this.path, path), false);
  }

  /** Opens the folder that holds `path`, and tells the name in it. `create` makes the folders that are missing. */
  async holderOf(path: string, { create = false } = {}): Promise<{ folder: OpenFolder; name: string }> {
    const names = namesBelow(this.path, path);
    const name = names.pop();
    if (name === undefined) throw new ToolError('path names the root folder itself');
    return { folder: await this.walk(names, create), name };
  }

  /** Opens a regular file to read. The caller closes it. */
  async file(path: string): Promise<FileHandle> {
    const { folder, name } = await this.holderOf(path);
    try {
      return await folder.file(name);
    } finally {
      await folder.close();
    }
  }

  private async walk(names: readonly string[], create: boolean): Promise<OpenFolder> {
    const handle = await open(this.path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    let folder = new OpenFolder(handle, this.path, '.', this.confinement);
    for (const name of names) {
      const above = folder;
      try {
        folder = await above.folder(name, create);
      } finally {
        await above.close();
      }
    }
    return folder;
  }
}

/** A folder that is open: names in it are resolved in this very folder, wherever its path leads by now. */
export class OpenFolder {
  constructor(
    private readonly handle: FileHandle,
    private readonly path: string,
    /** Below the root, as shown to callers. */
    readonly shown: string,
    private readonly confinement: Confinement,
  ) {}

  /** A path of this folder that no swapped link can redirect. */
  get own(): string {
    return this.confinement === 'each_step' ? `/proc/self/fd/${this.handle.fd}` : this.path;
  }

  /** A path of an entry of this folder; the entry itself must be opened without following it. */
  entry(name: string): string {
    return join(this.own, name);
  }

  async folder(name: string, create = false): Promise<OpenFolder> {
    const flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;
    if (create) await mkdir(this.entry(name)).catch(unlessExists);
    const handle = await this.opened(name, flags, 'folder');
    return new OpenFolder(handle, join(this.path, name), this.show(name), this.confinement);
  }

  /** Opens a regular file; anything else (a link, a folder, a pipe, a device) is refused without waiting for it. */
  async file(name: string, access: 'read' | 'write' = 'read'): Promise<FileHandle> {
    const handle = await this.opened(
      name,
      (access === 'read' ? O_RDONLY : O_WRONLY) | O_NOFOLLOW | O_NONBLOCK,
      'file',
    );
    const found = await handle.stat();
    if (found.isFile()) return handle;
    await handle.close();
    throw new ToolError(
      `${this.show(name)} is ${found.isDirectory() ? 'a folder, not a file' : 'not a regular file'}`,
    );
  }

  /** Makes a new file and opens it to write. Throws when the name is taken. */
  create(name: string, mode: number): Promise<FileHandle> {
    return this.opened(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 'file', mode);
  }

  /** What a name stands for, links not followed; undefined when it is not there. */
  async look(name: string): Promise<Stats | undefined> {
    try {
      return await lstat(this.entry(name));
    } catch (fault) {
      if ((fault as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw fault;
    }
  }

  show(name: string): string {
    return this.shown === '.' ? name : `${this.shown}/${name}`;
  }

  async close(): Promise<void> {
    await this.handle.close();
  }

  private async opened(
    name: string,
    flags: number,
    what: 'file' | 'folder',
    mode?: number,
  ): Promise<FileHandle> {
    let handle: FileHandle;
    try {
      if (this.confinement === 'after_opening') await this.refuseLink(name);
      handle = await open(this.entry(name), flags, mode);
    } catch (fault) {
      throw await this.explained(fault, name, what);
    }
    if (this.confinement === 'each_step' || (await this.isStillHere(handle, name))) return handle;
    await handle.close();
    throw new ToolError(`${this.show(name)} changed while it was opened`);
  }

  private async refuseLink(name: string): Promise<void> {
    if ((await this.look(name))?.isSymbolicLink()) throw linkRefused(this.show(name));
  }

  /** Without `/proc`: whether what was opened is what the path names, with no link on the way. */
  private async isStillHere(handle: FileHandle, name: string): Promise<boolean> {
    const [held, named, real] = await Promise.all([handle.stat(), this.look(name), realpath(this.path)]);
    return real === this.path && named?.dev === held.dev && named.ino === held.ino;
  }

  private async explained(fault: unknown, name: string, what: 'file' | 'folder'): Promise<unknown> {
    if (fault instanceof ToolError) return fault;
    const { code } = fault as NodeJS.ErrnoException;
    const shown = this.show(name);
    const found = code === 'ENOENT' ? undefined : await this.look(name).catch(() => undefined);
    if (found?.isSymbolicLink()) return linkRefused(shown);
    if (code === 'ENOTDIR') return new ToolError(`${shown} is not a folder`);
    return explain(fault, shown, what);
  }
}

/** A fault of the file system in words for the caller; any other fault as it is. */
export function explain(fault: unknown, shown: string, what: 'file' | 'folder'): unknown {
  const words = WORDS[(fault as NodeJS.ErrnoException).code ?? ''];
  return words === undefined ? fault : new ToolError(`${shown} ${words(what)}`);
}

const WORDS: Readonly<Record<string, (what: string) => string>> = {
  EACCES: () => 'may not be opened: permission denied',
  EEXIST: () => 'is there already',
  EISDIR: () => 'is a folder, not a file',
  ENAMETOOLONG: () => 'has a name that is too long',
  ENOENT: (what) => `does not exist: no such ${what}`,
  ENOSPC: () => 'could not be written: no space left',
  ENXIO: () => 'is not a regular file',
  EPERM: () => 'may not be opened: operation not permitted',
  EROFS: () => 'could not be written: the file system is read-only',
  ETXTBSY: () => 'is a program that is running',
};

const linkRefused = (shown: string): ToolError =>
  new ToolError(`${shown} is a symbolic link, and links are not followed`);

function unlessExists(fault: NodeJS.ErrnoException): void {
  if (fault.code !== 'EEXIST') throw fault;
}

const reachable = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
