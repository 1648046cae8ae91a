import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { transform } from '@swc/core';
import type { TestExecutor } from '../support/factories.js';
import { builtGo, pythonWithNats } from './toolchains.js';

/** How an example is run with a file that holds its registration; `input` is the program where no file is. */
export interface ExampleProgram {
  readonly command: string;
  readonly args: readonly string[];
  readonly input?: string;
}

/** The examples of `docs/examples` by their language, as far as this machine can run them; undefined where it cannot. */
export async function examplePrograms(): Promise<ReadonlyMap<string, ExampleProgram | undefined>> {
  const [go, python] = [await builtGo('docs/examples/go'), pythonWithNats()];
  const { code: input } = await transform(await readFile('docs/examples/typescript/greeter.ts', 'utf8'), {
    swcrc: false,
    module: { type: 'es6' },
    jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
  });
  return new Map<string, ExampleProgram | undefined>([
    ['TypeScript', { command: process.execPath, args: ['--input-type=module', '-'], input }],
    ['Go', go === undefined ? undefined : { command: go, args: [] }],
    [
      'Python',
      python === undefined ? undefined : { command: python, args: ['docs/examples/python/greeter.py'] },
    ],
  ]);
}

/** A running example. */
export class Example {
  private readonly end = (): void => void this.child.kill('SIGKILL');

  private constructor(
    private readonly child: ChildProcess,
    private readonly folder: string,
  ) {
    process.once('exit', this.end);
  }

  /** Resolves when it says that it serves; rejects with what it said where it ends before. */
  static async start(
    { command, args, input }: ExampleProgram,
    { registration }: TestExecutor,
  ): Promise<Example> {
    const folder = await mkdtemp(join(tmpdir(), 'nexus-example-'));
    const file = join(folder, 'registration.json');
    await writeFile(file, JSON.stringify(registration), { mode: 0o600 });
    const child = spawn(command, [...args, file], { stdio: ['pipe', 'pipe', 'pipe'] });
    const example = new Example(child, folder);
    child.stdin.end(input ?? '');
    const said: string[] = [];
    const serving = new Promise<void>((resolve, reject) => {
      for (const stream of [child.stdout, child.stderr])
        createInterface(stream).on('line', (line) => {
          said.push(line);
          if (line.endsWith('serving greet')) resolve();
        });
      child.once('error', reject);
      child.once('close', () => reject(new Error(`${command} ended: ${said.join('\n')}`)));
    });
    await serving;
    return example;
  }

  async stop(): Promise<void> {
    const gone = once(this.child, 'close');
    this.end();
    await gone;
    process.off('exit', this.end);
    await rm(this.folder, { recursive: true });
  }
}
