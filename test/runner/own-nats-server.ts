import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { connect as connectTcp } from 'node:net';
import { freePort } from '../../src/launch/port.mjs';

const BINARY =
  process.env['NATS_SERVER_BIN'] ??
  ['/usr/sbin/nats-server', '/usr/local/bin/nats-server'].find((path) => existsSync(path)) ??
  'nats-server';

/** A nats-server of a test's own, on a port that stays the same over restarts. */
export class OwnNatsServer {
  private constructor(
    private readonly port: number,
    private child: ChildProcess,
  ) {}

  static async start(): Promise<OwnNatsServer> {
    const port = await freePort();
    return new OwnNatsServer(port, await run(port));
  }

  get url(): string {
    return `nats://127.0.0.1:${this.port}`;
  }

  async stop(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const gone = new Promise((resolve) => this.child.once('exit', resolve));
    this.child.kill('SIGKILL');
    await gone;
  }

  async startAgain(): Promise<void> {
    this.child = await run(this.port);
  }
}

async function run(port: number): Promise<ChildProcess> {
  const child = spawn(BINARY, ['-a', '127.0.0.1', '-p', String(port)], { stdio: 'ignore' });
  process.once('exit', () => child.kill('SIGKILL'));
  for (let tries = 0; tries < 200; tries += 1) {
    if (await answers(port)) return child;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  child.kill('SIGKILL');
  throw new Error(`nats-server did not answer on port ${port}`);
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connectTcp({ host: '127.0.0.1', port });
    const end = (up: boolean): void => {
      socket.destroy();
      resolve(up);
    };
    socket.once('data', () => end(true));
    socket.once('error', () => end(false));
  });
}
