import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Builds the Go program of a folder from what is on this machine; undefined, saying so, where that is not enough. */
export async function builtGo(folder: string): Promise<string | undefined> {
  const at = mkdtempSync(join(tmpdir(), 'nexus-go-'));
  process.once('exit', () => rmSync(at, { recursive: true, force: true }));
  const program = join(at, 'program');
  try {
    // nothing is downloaded by a test
    const env = { ...process.env, GOPROXY: 'off', GOFLAGS: '-mod=readonly', GOTOOLCHAIN: 'local' };
    await run('go', ['build', '-o', program, '.'], { cwd: folder, env });
    return program;
  } catch (fault) {
    skipped(`${folder} cannot be built`, 'go', `(cd ${folder} && go mod download)`, fault);
    return undefined;
  }
}

/** A Python that has the packages of the example; undefined, saying so, where there is none. */
export function pythonWithNats(): string | undefined {
  try {
    execFileSync('python3', ['-c', 'import nats.micro, nkeys'], { stdio: 'pipe' });
    return 'python3';
  } catch (fault) {
    skipped('no nats-py', 'python3', 'pip install -r docs/examples/python/requirements.txt', fault);
    return undefined;
  }
}

function skipped(what: string, toolchain: string, mend: string, fault: unknown): void {
  const missing = (fault as { code?: unknown }).code === 'ENOENT';
  console.warn(
    `SKIPPED: ${missing ? `${toolchain} is not installed` : `${what}; to have it tested: ${mend}`}`,
  );
}
