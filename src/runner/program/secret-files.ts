import { randomUUID } from 'node:crypto';
import { mkdir, open, realpath, rename, stat, unlink } from 'node:fs/promises';
import { dirname, sep } from 'node:path';

/** Puts a secret where only its owner reads it, whole or not at all; its folder is made for the owner alone. */
export async function saveSecretFile(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const written = `${file}.${randomUUID()}.tmp`;
  try {
    const handle = await open(written, 'wx', 0o600);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(written, file);
  } catch (fault) {
    await unlink(written).catch(() => undefined);
    throw fault;
  }
}

/** What is wrong with where a secret lies; undefined when nothing is. */
export async function exposure(
  file: string,
  root: string,
): Promise<'inside_root' | 'readable_by_others' | undefined> {
  const real = await realpath(file);
  const base = root.endsWith(sep) ? root : `${root}${sep}`;
  if (real === root || real.startsWith(base)) return 'inside_root';
  const isOpen = process.platform !== 'win32' && ((await stat(real)).mode & 0o077) !== 0;
  return isOpen ? 'readable_by_others' : undefined;
}
