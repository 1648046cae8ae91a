import { spawn } from 'node:child_process';
import { devNull } from 'node:os';
import { Readable } from 'node:stream';

/** What git may answer at most, in bytes, where the answer is kept whole. */
const MOST_ANSWER_BYTES = 64 * 1024 * 1024;

/** Settings that leave nothing to the files of this machine, nor to those that are looked at. */
const SETTINGS = [
  `core.hooksPath=${devNull}`,
  `core.attributesFile=${devNull}`,
  `core.excludesFile=${devNull}`,
  'core.fsmonitor=false',
  'core.protectHFS=false',
  'core.protectNTFS=false',
  'gc.auto=0',
  'maintenance.auto=false',
].flatMap((setting) => ['-c', setting]);

/** git ended with an exit code that was not expected. */
class GitFault extends Error {
  override readonly name = 'GitFault';
}

interface Run {
  /** What git reads. A fault of it ends git and is thrown. */
  readonly input?: AsyncIterable<string | Buffer> | Iterable<string | Buffer>;
  readonly signal: AbortSignal;
  /** Exit codes that are answers. */
  readonly expected?: readonly number[];
}

/**
 * git on one store, beside `workTree`. Isolated: no configuration of the machine or the account, no hook, no attributes, no
 * inherited environment; what it runs on is `folder`, whatever repository lies in or around the work tree.
 */
export class Git {
  constructor(
    readonly folder: string,
    readonly workTree: string,
  ) {}

  /** Whether there is a git to run. */
  static async isInstalled(): Promise<boolean> {
    return new Promise((resolve) => {
      const child = spawn('git', ['--version'], { stdio: 'ignore', env: environment({}) });
      child.once('error', () => resolve(false));
      child.once('close', (code) => resolve(code === 0));
    });
  }

  /** Makes the store where there is none. */
  async init(signal: AbortSignal): Promise<void> {
    await this.text(['init', '--quiet', '--bare', '--template=', '--object-format=sha1'], { signal });
  }

  /** What a command answers, as text. Throws `GitFault`. */
  async text(args: readonly string[], run: Run): Promise<string> {
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of this.stream(args, run)) {
      bytes += chunk.length;
      if (bytes > MOST_ANSWER_BYTES) throw new GitFault(`git ${args.join(' ')} answered too much`);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks).toString();
  }

  /** What a command answers, as it comes. Throws `GitFault`, and the reason of an aborted signal. */
  async *stream(
    args: readonly string[],
    { input = [], signal, expected = [0] }: Run,
  ): AsyncGenerator<Buffer> {
    signal.throwIfAborted();
    const child = spawn('git', [...SETTINGS, ...args], {
      cwd: this.workTree,
      env: environment({ GIT_DIR: this.folder }),
      stdio: ['pipe', 'pipe', 'pipe'],
      signal,
      killSignal: 'SIGKILL',
    });
    let fault: Error | undefined;
    let words = '';
    const ended = new Promise<number | null>((resolve) => {
      child.once('error', (failed) => {
        fault ??= failed;
        if (child.pid === undefined) resolve(null);
      });
      child.once('close', resolve);
    });
    child.stderr.on('data', (chunk: Buffer) => (words = `${words}${chunk.toString()}`.slice(0, 1_000)));
    const source = Readable.from(input, { objectMode: true });
    source.on('error', (failed) => {
      fault ??= failed;
      child.kill('SIGKILL');
    });
    // git may end before it has read everything: its exit code says what that means
    child.stdin.on('error', () => source.destroy());
    source.pipe(child.stdin);
    try {
      for await (const chunk of child.stdout) yield chunk as Buffer;
      const code = await ended;
      signal.throwIfAborted();
      if (fault) throw fault;
      if (code === null || !expected.includes(code)) {
        throw new GitFault(`git ${args.join(' ')} ended with ${code}: ${words.trim()}`);
      }
    } finally {
      source.destroy();
      child.kill('SIGKILL');
      await ended;
    }
  }
}

/** All that git is told: where programs are, and that nothing else counts. */
function environment(own: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { PATH, Path, SystemRoot, TMPDIR } = process.env;
  return {
    ...Object.fromEntries(Object.entries({ PATH, Path, SystemRoot, TMPDIR }).filter(([, value]) => value)),
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_SYSTEM: devNull,
    GIT_CONFIG_GLOBAL: devNull,
    GIT_ATTR_NOSYSTEM: '1',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_TERMINAL_PROMPT: '0',
    ...own,
  };
}
