import { randomUUID } from 'node:crypto';
import type { Stats } from 'node:fs';
import { rename, unlink } from 'node:fs/promises';
import { ToolError } from '../sdk/tool.js';
import { explain, type OpenFolder } from './root-folder.js';

const NEW_FILE_MODE = 0o666;

/**
 * Puts `bytes` where `name` is, whole or not at all: written beside it, then renamed onto it in the opened folder. The
 * mode of a file that is replaced stays; one that is `restored` gets its own back, and may be replaced although it is read-only. Throws `ToolError` where the name is a link, no regular file, may not be
 * written, or, when `read` is given, is no longer the file that was read. Answers whether a file was replaced.
 */
export async function replaceFile(
  folder: OpenFolder,
  name: string,
  bytes: Uint8Array,
  signal: AbortSignal,
  { read, restored }: { readonly read?: Stats; readonly restored?: { readonly mode: number } } = {},
): Promise<boolean> {
  const before = restored && read ? read : await writable(folder, name);
  const wanted = restored?.mode ?? (before && before.mode & 0o777);
  const written = `.nexus-${randomUUID()}.tmp`;
  try {
    const handle = await folder.create(written, wanted ?? NEW_FILE_MODE);
    try {
      await handle.writeFile(bytes);
      if (wanted !== undefined) await handle.chmod(wanted);
      await handle.sync();
    } finally {
      await handle.close();
    }
    if (read && !isSame(read, await folder.look(name))) {
      throw new ToolError(`${folder.show(name)} was changed by somebody else meanwhile; nothing was written`);
    }
    signal.throwIfAborted();
    await rename(folder.entry(written), folder.entry(name));
  } catch (fault) {
    await unlink(folder.entry(written)).catch(() => undefined);
    throw explain(fault, folder.show(name), 'file');
  }
  return before !== undefined;
}

/** What is there now; undefined when nothing is. Throws where it may not be replaced. */
async function writable(folder: OpenFolder, name: string): Promise<Stats | undefined> {
  if (!(await folder.look(name))) return undefined;
  const handle = await folder.file(name, 'write');
  try {
    return await handle.stat();
  } finally {
    await handle.close();
  }
}

const isSame = (one: Stats, other: Stats | undefined): boolean =>
  one.ino === other?.ino && one.dev === other.dev && one.mtimeMs === other.mtimeMs && one.size === other.size;
