import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { loadBusKeys } from '../../dist/src/bus/grants/bus-keys-file.js';
import { serverConfig } from '../../dist/src/bus/grants/server-config.js';
import { startChild, whenReady } from '../../src/launch/child.mjs';
import { startNats } from '../../src/launch/nats-server.mjs';
import { freePort } from '../../src/launch/port.mjs';
import { startPostgres } from '../../src/launch/postgres.mjs';
import { provision } from './product.mjs';
import { RoleProcess } from './role-process.mjs';

const NODE_PROGRAM = fileURLToPath(new URL('../../dist/src/main.js', import.meta.url));

/** Counts statements; every peer pays for it alike. */
const COUNTING = ['shared_preload_libraries=pg_stat_statements', 'pg_stat_statements.track_planning=off'];

const open = new Set();

/**
 * What a bench plays on: a PostgreSQL that keeps what it acknowledges, a NATS for the peers, and, once asked for, Nexus
 * with its own bus. Everything is in one folder and ends with the stage, or with us however we end.
 */
export class Stage {
  started = [];

  /** Remembers what runs, so that it is stopped with the stage; where that is over already, at once. */
  onStarted = (service) => {
    if (open.has(this)) this.started.push(service);
    else void service.stop();
  };

  static async open() {
    const folder = mkdtempSync(join(tmpdir(), 'nexus-bench-'));
    // PostgreSQL runs as an account of its own; what is secret in here is closed by itself
    chmodSync(folder, 0o755);
    const stage = new Stage();
    stage.folder = folder;
    open.add(stage);
    stage.postgres = await startPostgres({
      ...stage.own,
      dataDir: join(folder, 'postgres'),
      mode: 'durable',
      extra: COUNTING,
    });
    stage.nats = await stage.startNats('nats');
    stage.admin = new pg.Client({ connectionString: stage.postgres.url });
    // it ends with the server
    stage.admin.on('error', () => {});
    await stage.admin.connect();
    await stage.admin.query('create extension pg_stat_statements');
    return stage;
  }

  /** Services of a stage end with it, or with us however we end. */
  get own() {
    return { port: 0, scratch: [this.folder], onStarted: this.onStarted };
  }

  /** A NATS with a folder of this name; without keys it lets in everybody. */
  startNats(name, keys) {
    return startNats({
      ...this.own,
      dir: join(this.folder, name),
      configOf: (place) => serverConfig(keys, place),
    });
  }

  /** An empty database; answers its URL. */
  async createDatabase(name) {
    await this.admin.query(`create database ${name}`);
    return this.databaseUrl(name);
  }

  databaseUrl(name) {
    const url = new URL(this.postgres.url);
    url.pathname = `/${name}`;
    return url.href;
  }

  /**
   * Statements that a database has carried out up to now, and transactions that wrote: their ids are those of the whole
   * server, so what else writes meanwhile is in it. The statistics' own count of commits comes seconds late.
   */
  async counts(name) {
    const { rows } = await this.admin.query(
      `select pg_snapshot_xmax(pg_current_snapshot())::text::float8 as commits,
         (select coalesce(sum(calls), 0)::float8 from pg_stat_statements s join pg_database d on d.oid = s.dbid
          where d.datname = $1) as statements`,
      [name],
    );
    return rows[0];
  }

  /** How a runner's calls are delivered, as it was announced. */
  async deliveryOf(executorId) {
    const client = new pg.Client({ connectionString: this.databaseUrl(this.nexus.database) });
    await client.connect();
    const { rows } = await client.query('select delivery from announcements where executor_id = $1', [
      executorId,
    ]);
    await client.end();
    return rows[0].delivery;
  }

  /** Starts a program as a child of this stage. `isReady` is asked until it answers true. */
  async startProgram(name, command, args, { isReady, ...options }) {
    const service = startChild(command, args, {
      scratch: [this.folder],
      onStarted: this.onStarted,
      ...options,
    });
    await whenReady(service, name, isReady);
    return service;
  }

  startRole(peer, role, context, options) {
    return RoleProcess.start(peer, role, context, { ...options, onStarted: this.onStarted });
  }

  /** Nexus, as users run it: the default log, rate limits on. `preload` is a module that the node imports first. */
  async startNexus({ preload } = {}) {
    const database = 'nexus';
    await this.createDatabase(database);
    this.bus = await this.startBus();
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const flags = ['--enable-source-maps', ...(preload ? ['--import', preload] : [])];
    const node = await this.startProgram('Nexus', process.execPath, [...flags, NODE_PROGRAM], {
      log: join(this.folder, 'node.log'),
      env: {
        PATH: process.env.PATH,
        ...(preload && { BENCH_PROFILE_DIR: process.env.BENCH_PROFILE_DIR }),
        DATABASE_URL: this.databaseUrl(database),
        NEXUS_HOME: join(this.folder, 'home'),
        NEXUS_HTTP_PORT: String(port),
        ...this.bus.env,
      },
      isReady: () =>
        fetch(`${url}/readyz`).then(
          (answer) => answer.ok,
          () => false,
        ),
    });
    this.nexus = { url, pid: node.pid, child: node.child, database };
    this.product = await provision(url, join(this.folder, 'home'));
    return this.nexus;
  }

  /** The bus of Nexus: a managed server of its own, and what the node is told of it. */
  async startBus() {
    const keys = loadBusKeys(undefined, join(this.folder, 'home'));
    const bus = await this.startNats('bus', keys);
    return { pid: bus.pid, env: { NATS_URL: bus.url } };
  }

  async close() {
    open.delete(this);
    await this.admin?.end().catch(() => {});
    for (const service of this.started.reverse()) await service.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Ends every open stage: what Ctrl-C does. */
export const closeAll = () => Promise.all([...open].map((stage) => stage.close()));
