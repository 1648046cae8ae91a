import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadBusKeys } from '../../src/bus/grants/bus-keys-file.js';
import { serverConfig } from '../../src/bus/grants/server-config.js';
import type { Service } from '../../src/launch/child.mjs';
import { startNats } from '../../src/launch/nats-server.mjs';
import { startPostgres } from '../../src/launch/postgres.mjs';
import { freePort } from '../../src/launch/port.mjs';

const NODE_PROGRAM = 'dist/src/main.js';

/** A Nexus node in a process of its own, as it runs in production. */
export interface NodeProcess {
  readonly url: string;
  readonly child: ChildProcess;
}

/** Its own PostgreSQL and NATS, which a test may stop and start, and nodes as processes, which it may kill. */
export class Cluster {
  private readonly nodes: NodeProcess[] = [];

  private constructor(
    private readonly folder: string,
    private postgres: Service & { readonly data: string },
    private nats: Service,
  ) {}

  static async start(): Promise<Cluster> {
    const folder = await mkdtemp(join(tmpdir(), 'nexus-cluster-'));
    const [postgresPort, natsPort] = [await freePort(), await freePort()];
    const [postgres, nats] = await Promise.all([
      // not the fast test mode: what is acknowledged must survive the restarts of these tests
      startPostgres({ dataDir: join(folder, 'postgres'), port: postgresPort, mode: 'durable' }),
      startManagedNats(folder, natsPort),
    ]);
    return new Cluster(folder, postgres, nats);
  }

  get natsUrl(): string {
    return this.nats.url;
  }

  get databaseUrl(): string {
    return this.postgres.url;
  }

  /** The platform token that the first start wrote. */
  async platformToken(): Promise<string> {
    return (await readFile(join(this.folder, 'home', 'platform.secret'), 'utf8')).trim();
  }

  async startNode(): Promise<NodeProcess> {
    const port = await freePort();
    const child = spawn(process.execPath, [NODE_PROGRAM], {
      env: {
        PATH: process.env['PATH'],
        DATABASE_URL: this.postgres.url,
        NATS_URL: this.nats.url,
        NEXUS_HOME: join(this.folder, 'home'),
        NEXUS_HTTP_PORT: String(port),
        LOG_LEVEL: 'silent',
      },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const node = { url: `http://127.0.0.1:${port}`, child };
    this.nodes.push(node);
    await until(async () => {
      if (child.exitCode === null) return (await fetch(`${node.url}/readyz`)).ok;
      throw new Ended(`A node ended with ${child.exitCode} at its start`);
    });
    return node;
  }

  /** Ends a node as a power cut would. */
  async killNode({ child }: NodeProcess): Promise<void> {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  }

  async restartNats(): Promise<void> {
    await this.nats.stop();
    this.nats = await startManagedNats(this.folder, this.nats.port);
  }

  async restartPostgres(): Promise<void> {
    await this.postgres.stop();
    this.postgres = await startPostgres({
      dataDir: join(this.folder, 'postgres'),
      port: this.postgres.port,
      mode: 'durable',
    });
  }

  async close(): Promise<void> {
    await Promise.all(
      this.nodes.map(async ({ child }) => {
        if (child.exitCode !== null || child.signalCode !== null) return;
        const ended = new Promise((resolve) => child.once('exit', resolve));
        child.kill('SIGTERM');
        await ended;
      }),
    );
    await Promise.all([this.nats.stop(), this.postgres.stop()]);
    await Promise.all(
      [this.folder, this.postgres.data].map((folder) => rm(folder, { recursive: true, force: true })),
    );
  }
}

/** With the keys of the nodes' home, which are made where there are none. */
function startManagedNats(folder: string, port: number): Promise<Service> {
  const keys = loadBusKeys(undefined, join(folder, 'home'));
  return startNats({
    dir: join(folder, 'nats'),
    port,
    configOf: (place) => serverConfig(keys, place),
  });
}

/** Asks until the answer is true; what throws is not true yet. The test's own timeout ends a wait in vain. */
export async function until(probe: () => Promise<boolean>): Promise<void> {
  const isTrue = (): Promise<boolean> =>
    probe().catch((fault: unknown) => {
      if (fault instanceof Ended) throw fault;
      return false;
    });
  while (!(await isTrue())) await new Promise((resolve) => setTimeout(resolve, 50));
}

/** There is nothing left to wait for. */
class Ended extends Error {}
