import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runProgram } from '../../src/runner/program/run.js';
import { executorOf, ok, type TestAccount, type TestExecutor } from '../support/factories.js';
import type { TestNode } from '../support/node.js';

/** The reference runner's program, with a root folder of its own, at a real node. */
export class LocalRunner {
  private constructor(
    readonly executor: TestExecutor,
    private readonly folder: string,
    private readonly stopping: AbortController,
    private readonly ended: Promise<void>,
  ) {}

  /** Registers and starts one; resolves when it serves. */
  static async start(node: TestNode, account: TestAccount, name: string, fields = {}): Promise<LocalRunner> {
    const folder = await realpath(await mkdtemp(join(tmpdir(), 'nexus-runner-')));
    await mkdir(join(folder, 'root'));
    const body = {
      kind: 'runner',
      display_name: name,
      manager_public_id: account.adminId,
      registration_identifier: name,
      assignment_scope: 'account_wide',
      ...fields,
    };
    const registered = ok(
      await node.http('POST', '/platform_api/v1/executors', { token: account.platformToken, body }),
    );
    await writeFile(join(folder, 'registration.json'), registered.text, { mode: 0o600 });
    const stopping = new AbortController();
    const options = {
      root: join(folder, 'root'),
      registration: join(folder, 'registration.json'),
      checkpoints: join(folder, 'checkpoints'),
      allowBash: true,
      maxConcurrent: 4,
      graceMs: 100,
      verbose: false,
    };
    let serving = (): void => undefined;
    const served = new Promise<void>((resolve) => (serving = resolve));
    const log = (_: string, message: string): void => {
      if (message.startsWith('serving ')) serving();
    };
    const stopAtOnce = new AbortController().signal;
    const ended = runProgram(options, log, { stop: stopping.signal, stopAtOnce });
    ended.catch(() => undefined);
    await Promise.race([served, ended]);
    return new LocalRunner(executorOf(registered), folder, stopping, ended);
  }

  put(path: string, text: string): Promise<void> {
    return writeFile(join(this.folder, 'root', path), text);
  }

  /** The text of a file below the root folder; undefined when it is not there. */
  text(path: string): Promise<string | undefined> {
    return readFile(join(this.folder, 'root', path), 'utf8').catch(() => undefined);
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.ended.catch(() => undefined);
  }

  async remove(): Promise<void> {
    await this.stop();
    await rm(this.folder, { recursive: true, force: true });
  }
}
