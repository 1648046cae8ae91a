import { execFile } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { scrubbedEnvironment } from './scrubbed-environment.js';

/** Programs worth knowing of, and how each tells its version. */
const PROGRAMS: Readonly<Record<string, readonly string[]>> = {
  bun: ['--version'],
  cargo: ['--version'],
  clang: ['--version'],
  cmake: ['--version'],
  deno: ['--version'],
  docker: ['--version'],
  dotnet: ['--version'],
  gcc: ['--version'],
  git: ['--version'],
  go: ['version'],
  java: ['-version'],
  make: ['--version'],
  mvn: ['--version'],
  node: ['--version'],
  npm: ['--version'],
  php: ['--version'],
  pnpm: ['--version'],
  python3: ['--version'],
  ruby: ['--version'],
  rustc: ['--version'],
  uv: ['--version'],
  yarn: ['--version'],
};

const ANSWERS_WITHIN_MS = 3_000;
const AT_ONCE = 4;

/** The toolchains found on `PATH`, each with the version it tells; `unknown` when it tells none. */
export async function findToolchains(environment = scrubbedEnvironment()): Promise<Record<string, string>> {
  const folders = (environment['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  const found: Record<string, string> = {};
  const names = Object.keys(PROGRAMS);
  const worker = async (): Promise<void> => {
    for (let name = names.shift(); name !== undefined; name = names.shift()) {
      const path = await onPath(name, folders);
      if (path !== undefined) found[name] = await versionOf(path, PROGRAMS[name] ?? [], environment);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return Object.fromEntries(Object.entries(found).sort(([one], [other]) => (one < other ? -1 : 1)));
}

async function onPath(name: string, folders: readonly string[]): Promise<string | undefined> {
  for (const folder of folders) {
    const path = join(folder, process.platform === 'win32' ? `${name}.exe` : name);
    if (
      await access(path, constants.X_OK).then(
        () => true,
        () => false,
      )
    ) {
      return path;
    }
  }
  return undefined;
}

function versionOf(path: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<string> {
  return new Promise((resolve) => {
    execFile(path, args, { timeout: ANSWERS_WITHIN_MS, killSignal: 'SIGKILL', env }, (_, stdout, stderr) =>
      resolve(versionIn(`${stdout}\n${stderr}`) ?? 'unknown'),
    );
  });
}

/** The first thing in a program's words that looks like a version. */
export const versionIn = (words: string): string | undefined => /\d+(\.\d+)+[\w.+-]*/.exec(words)?.[0];
