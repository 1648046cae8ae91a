import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { type ServedTool, ToolError } from '../../sdk/tool.js';
import { BoundedOutput } from '../bounded-output.js';
import { ANYTHING } from '../effect-profiles.js';
import { Input } from '../input.js';
import type { RootFolder } from '../root-folder.js';
import { scrubbedEnvironment } from '../scrubbed-environment.js';

const MOST_OUTPUT_BYTES = 128 * 1024;
const MOST_MS = 3_600_000;
const SHOWN_WHILE_RUNNING = 8 * 1024;
/** A group that was told to end is killed after this, in ms. */
const KILL_AFTER_MS = 2_000;
/** A process outside the group may keep the output open after the command has ended; it is waited for so long, in ms. */
const OUTPUT_CLOSES_WITHIN_MS = 500;

const SHELL = ['/bin/bash', '/usr/bin/bash', '/bin/sh'].find((path) => existsSync(path)) ?? 'bash';

/**
 * `bash`: any command, served only with `--allow-bash`. It is not confined to the root folder: it runs with the
 * runner's own rights. Its environment holds no secret of Nexus; the files of the runner's account are readable to it.
 */
export const bashTool = (root: RootFolder): ServedTool => ({
  name: 'bash',
  effect_profile: ANYTHING,
  timeout_ms: 120_000,
  description:
    'Runs a shell command in the root folder, with all rights of the account that the runner runs under: it is not ' +
    'confined to the root folder. Answers the exit code and the output, at most 128 KiB of it, its beginning and its ' +
    'end. Processes that the command leaves in its process group end with it.',
  input_schema: {
    type: 'object',
    properties: {
      command: { type: 'string', minLength: 1, description: 'The command, as a shell reads it.' },
      timeout_ms: {
        type: 'integer',
        minimum: 1,
        maximum: MOST_MS,
        default: 120_000,
        description: 'How long it may run, in ms.',
      },
    },
    required: ['command'],
    additionalProperties: false,
  },
  handler: async (given, { signal, progress }) => {
    const input = new Input(given);
    const command = input.text('command');
    const timeoutMs = input.integer('timeout_ms', { least: 1, most: MOST_MS, otherwise: 120_000 });
    if (command.includes('\0')) throw new ToolError('command holds a NUL character');
    const output = new BoundedOutput(MOST_OUTPUT_BYTES);
    const ended = await run(command, root.path, timeoutMs, signal, (chunk) => {
      output.add(chunk);
      progress({ text_tail: output.lastText(SHOWN_WHILE_RUNNING) });
    });
    const why = reason(ended, timeoutMs);
    const content = [output.text(), why].filter((part) => part !== '').join('\n');
    if (signal.aborted) throw new Error(content);
    return {
      content: content || '(no output)',
      is_error: ended.exitCode !== 0,
      structured_content: {
        exit_code: ended.exitCode,
        signal: ended.signal,
        timed_out: ended.timedOut,
        output_bytes: output.bytes,
        truncated: output.truncated,
      },
    };
  },
});

interface Ended {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly timedOut: boolean;
}

function reason({ exitCode, signal, timedOut }: Ended, timeoutMs: number): string {
  if (timedOut) return `[ended after ${timeoutMs} ms: it took too long]`;
  if (signal) return `[ended by ${signal}]`;
  return exitCode === 0 ? '' : `[exit code ${exitCode}]`;
}

/** Runs a command in a process group of its own. The group has ended when this resolves. Throws when it cannot start. */
function run(
  command: string,
  cwd: string,
  timeoutMs: number,
  aborted: AbortSignal,
  heard: (chunk: Buffer) => void,
): Promise<Ended> {
  aborted.throwIfAborted();
  return new Promise((resolve, reject) => {
    const child = spawn(SHELL, ['-c', command], {
      cwd,
      env: scrubbedEnvironment(),
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    let timedOut = false;
    let killTimer: NodeJS.Timeout | undefined;
    const stop = (): void => {
      signalGroup(child, 'SIGTERM');
      killTimer ??= setTimeout(() => signalGroup(child, 'SIGKILL'), KILL_AFTER_MS);
    };
    const timer = setTimeout(() => {
      timedOut = true;
      stop();
    }, timeoutMs);
    const end = (settle: () => void): void => {
      clearTimeout(timer);
      clearTimeout(killTimer);
      aborted.removeEventListener('abort', stop);
      settle();
    };
    aborted.addEventListener('abort', stop, { once: true });
    child.stdout.on('data', heard);
    child.stderr.on('data', heard);
    child.once('error', (fault) => end(() => reject(fault)));
    child.once('exit', (exitCode, signal) => {
      // What the command left behind in its group goes with it: nothing outlives the call unseen.
      signalGroup(child, 'SIGKILL');
      const finish = (): void => end(() => resolve({ exitCode, signal, timedOut }));
      const cut = setTimeout(() => {
        child.stdout.destroy();
        child.stderr.destroy();
      }, OUTPUT_CLOSES_WITHIN_MS);
      child.once('close', () => {
        clearTimeout(cut);
        finish();
      });
    });
  });
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // The whole group has ended.
  }
}
