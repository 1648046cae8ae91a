import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Where a command finds Nexus, and the administrator that it speaks as. */
export interface RunningNexus {
  readonly url: string;
  readonly secret: string;
}

/** What the command line said; the rest is that of the Nexus that runs from `home`. */
interface Given {
  readonly url?: string | undefined;
  readonly secretFile?: string | undefined;
}

/** Throws where a file is not there, saying what to do. */
export async function runningNexus(home: string, { url, secretFile }: Given): Promise<RunningNexus> {
  return {
    url: (url ?? (await urlOf(home))).replace(/\/+$/, ''),
    secret: await read(
      secretFile ?? join(home, 'platform.secret'),
      'name the file of a platform secret: --secret-file',
    ),
  };
}

async function urlOf(home: string): Promise<string> {
  const file = join(home, 'ready.json');
  const advice = 'which Nexus? Say --url, or set NEXUS_HOME to the folder of a Nexus that is running';
  const { http_url: url } = JSON.parse(await read(file, advice)) as { http_url?: unknown };
  if (typeof url !== 'string') throw new Error(`${file} names no http_url`);
  return url;
}

async function read(file: string, advice: string): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (fault) {
    const { code, message } = fault as NodeJS.ErrnoException;
    throw new Error(code === 'ENOENT' ? `${advice} (${file} is not there)` : `${file}: ${message}`, {
      cause: fault,
    });
  }
}
