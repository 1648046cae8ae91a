import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Env } from '../config/env.js';

/**
 * The database that a command works on: DATABASE_URL, else the one of the Nexus that runs from NEXUS_HOME. Throws where
 * there is neither, saying what to do.
 */
export async function databaseUrl(env: Pick<Env, 'DATABASE_URL' | 'NEXUS_HOME'>): Promise<string> {
  if (env.DATABASE_URL !== undefined) return env.DATABASE_URL;
  const file = join(env.NEXUS_HOME, 'database.url');
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (fault) {
    const { code, message } = fault as NodeJS.ErrnoException;
    if (code !== 'ENOENT') throw new Error(`${file}: ${message}`, { cause: fault });
    throw new Error(
      `which database? Set DATABASE_URL, or NEXUS_HOME to the folder of a Nexus that is running (${file} is not there)`,
      { cause: fault },
    );
  }
}
