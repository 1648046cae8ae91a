import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { RootFolder } from '../../src/runner/program/root-folder.js';
import { returned } from '../../src/runner/sdk/call-result.js';
import type { ServedTool } from '../../src/runner/sdk/tool.js';
import type { CommitBody } from '../../src/runner/sdk/wire.js';

/** A folder with a root folder in it, and a secret beside the root that no call may ever see. */
export class ScratchRoot {
  static readonly SECRET = 'the secret outside';

  private constructor(
    readonly outside: string,
    readonly path: string,
  ) {}

  static async make(): Promise<ScratchRoot> {
    const outside = await realpath(await mkdtemp(join(tmpdir(), 'runner-root-')));
    const scratch = new ScratchRoot(outside, join(outside, 'root'));
    await mkdir(scratch.path);
    await writeFile(join(outside, 'secret.txt'), ScratchRoot.SECRET);
    return scratch;
  }

  root(allowProc = true): Promise<RootFolder> {
    return RootFolder.at(this.path, allowProc);
  }

  at(...names: string[]): string {
    return join(this.path, ...names);
  }

  async put(path: string, content: string | Uint8Array): Promise<void> {
    await mkdir(dirname(this.at(path)), { recursive: true });
    await writeFile(this.at(path), content);
  }

  async remove(): Promise<void> {
    await rm(this.outside, { recursive: true, force: true });
  }
}

export interface Shown {
  text_tail?: string;
  structured?: unknown;
}

/** Calls a tool as the SDK does, and answers what would be committed; its checkpoints go to `kept`. Throws what the handler throws. */
export async function call(
  tool: ServedTool,
  input: unknown,
  { signal = new AbortController().signal, shown = [] as Shown[], kept = [] as unknown[] } = {},
): Promise<CommitBody & { content: string }> {
  const progress = (frame: Shown): void => void shown.push(frame);
  const checkpoint = (value: unknown): void => void kept.push(value);
  const context = {
    signal,
    deadlineAt: new Date(),
    runPublicId: 'run',
    taskKey: 'key',
    checkpoint,
    progress,
  };
  return returned(await tool.handler(input, context)) as CommitBody & { content: string };
}
