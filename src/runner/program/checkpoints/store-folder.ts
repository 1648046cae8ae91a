import { createHash } from 'node:crypto';
import { mkdir, realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve, sep } from 'node:path';

/**
 * The folder of the checkpoints of a root folder, made for its owner alone: below `folder`, or `~/.nexus/checkpoints`, by a
 * hash of the root's path. Throws where it would lie in the root folder, where every caller could change it.
 */
export async function storeFolder(
  root: string,
  folder = join(homedir(), '.nexus', 'checkpoints'),
): Promise<string> {
  const name = createHash('sha256').update(root).digest('hex').slice(0, 32);
  const path = resolve(folder, name);
  refuseInside(root, path);
  await mkdir(path, { recursive: true, mode: 0o700 });
  const real = await realpath(path);
  refuseInside(root, real);
  return real;
}

function refuseInside(root: string, path: string): void {
  if (`${path}${sep}`.startsWith(root.endsWith(sep) ? root : `${root}${sep}`)) {
    throw new Error(
      `${path} lies in the root folder, where every caller could change it: keep checkpoints elsewhere`,
    );
  }
}
