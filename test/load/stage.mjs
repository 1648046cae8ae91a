/** The stage of a bench: its own PostgreSQL and NATS, a Nexus node, an account, an agent and runners. All end with it. */
import { fork, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { serverConfig } from '../../dist/src/bus/grants/server-config.js';
import { startNats } from '../../src/launch/nats-server.mjs';
import { startPostgres } from '../../src/launch/postgres.mjs';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const NODE_MAIN = here('../../dist/src/main.js');

/** Starts everything but runners. */
export async function openStage() {
  const folder = mkdtempSync(join(tmpdir(), 'nexus-bench-'));
  const [postgres, nats] = await Promise.all([
    startPostgres({ dataDir: join(folder, 'postgres'), port: 0, mode: 'durable' }),
    startNats({ dir: join(folder, 'nats'), port: 0, configOf: (place) => serverConfig(undefined, place) }),
  ]);
  const stage = new Stage(folder, postgres, nats);
  await stage.createDatabase('nexus');
  await stage.createDatabase('bare');
  return stage;
}

class Stage {
  constructor(folder, postgres, nats) {
    this.folder = folder;
    this.postgres = postgres;
    this.nats = nats;
    this.children = [];
  }

  databaseUrl(name) {
    const url = new URL(this.postgres.url);
    url.pathname = `/${name}`;
    return url.href;
  }

  async createDatabase(name) {
    const admin = new pg.Client({ connectionString: this.postgres.url });
    await admin.connect();
    await admin.query(`create database ${name}`);
    await admin.end();
  }

  /** A Nexus node as users run it, rate limits and all. */
  async startNode(port) {
    const child = spawn(process.execPath, [NODE_MAIN], {
      env: {
        PATH: process.env.PATH,
        DATABASE_URL: this.databaseUrl('nexus'),
        NATS_URL: this.nats.url,
        // the bare pipeline beside it shares the server, and has no credentials
        NEXUS_BUS_AUTH: 'token',
        NEXUS_HOME: join(this.folder, 'home'),
        NEXUS_HTTP_PORT: String(port),
        LOG_LEVEL: 'warn',
      },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    this.children.push(child);
    const url = `http://127.0.0.1:${port}`;
    for (let tries = 0; tries < 300; tries += 1) {
      const ready = await fetch(`${url}/readyz`).then(
        (answer) => answer.ok,
        () => false,
      );
      if (ready) return { url, pid: child.pid };
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    throw new Error('The node did not become ready');
  }

  /** Forks a script of this folder and waits until it says that it is ready. */
  async startScript(name, args, env = {}) {
    const child = fork(here(name), args, { env: { ...process.env, ...env } });
    this.children.push(child);
    await new Promise((resolve, reject) => {
      child.once('message', resolve);
      child.once('exit', (code) => reject(new Error(`${name} ended with ${code}`)));
    });
    return { pid: child.pid };
  }

  /** An account's agent, its credential's bus subjects, and one runner that echoes. */
  async provision(url) {
    const platform = readFileSync(join(this.folder, 'home', 'platform.secret'), 'utf8').trim();
    const ask = (method, path, body, token = platform) => askJson(url, method, path, body, token);
    const { humans } = await ask('GET', '/platform_api/v1/humans');
    const manager = humans[0].public_id;
    const { agent } = await ask('POST', '/platform_api/v1/agents', {
      display_name: 'Bench',
      steward_public_id: manager,
      approval_floor: 'bypass',
    });
    const credential = await ask('POST', `/platform_api/v1/members/${agent.public_id}/credentials`, {
      name: 'bench',
    });
    const registration = await ask('POST', '/platform_api/v1/executors', {
      kind: 'runner',
      display_name: 'Echo',
      manager_public_id: manager,
      registration_identifier: 'echo',
      assignment_scope: 'account_wide',
    });
    const file = join(this.folder, 'echo.registration.json');
    writeFileSync(file, JSON.stringify(registration), { mode: 0o600 });
    return {
      ask,
      agentToken: credential.secret,
      platformToken: platform,
      bus: credential.bus,
      registration,
      registrationFile: file,
      manager,
    };
  }

  async close() {
    for (const child of this.children.reverse()) {
      if (child.exitCode !== null) continue;
      child.kill('SIGTERM');
      await new Promise((resolve) => {
        const forced = setTimeout(() => child.kill('SIGKILL'), 5_000);
        child.once('exit', () => resolve(clearTimeout(forced)));
      });
    }
    await this.nats.stop();
    await this.postgres.stop();
    // as root below a closed folder the data lies elsewhere
    for (const folder of [this.folder, this.postgres.data]) rmSync(folder, { recursive: true, force: true });
  }
}

/** One JSON request; throws on a refusal. */
export async function askJson(url, method, path, body, token) {
  const answer = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
  return text === '' ? undefined : JSON.parse(text);
}
