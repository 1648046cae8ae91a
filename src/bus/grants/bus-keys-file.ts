import { randomUUID } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { BusKeys } from './bus-keys.js';

/**
 * The keys of the managed bus: `given`, which is the setting NEXUS_BUS_KEYS, else those of the file `bus.keys` in the
 * data folder. The first who asks makes the file, for its owner alone (0600), whole or not at all: of processes that start
 * together all read the same. Throws with the file's name, never with what it holds.
 */
export function loadBusKeys(given: string | undefined, folder: string): BusKeys {
  if (given !== undefined) return named('NEXUS_BUS_KEYS', given);
  const path = join(folder, 'bus.keys');
  return named(path, read(path) ?? make(path));
}

function named(source: string, secret: string): BusKeys {
  try {
    return new BusKeys(secret);
  } catch (fault) {
    throw new Error(`${source}: ${(fault as Error).message}`, { cause: fault });
  }
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw fault;
  }
}

/** Makes the file unless another process was first; answers what it holds now. */
function make(path: string): string {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${randomUUID()}`;
  writeFileSync(draft, `${BusKeys.newSecret()}\n`, { mode: 0o600, flag: 'wx', flush: true });
  try {
    linkSync(draft, path);
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code !== 'EEXIST') throw fault;
  } finally {
    rmSync(draft, { force: true });
  }
  return read(path) ?? '';
}
