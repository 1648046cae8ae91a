import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { NatsConnection } from 'nats';
import { v7 } from 'uuid';
import { BusConnections } from '../../src/bus/bus-connections.js';
import { type Env, readEnv } from '../../src/config/env.js';
import type { AccountId } from '../../src/db/account-id.js';
import { createNode } from '../../src/create-node.js';
import { Database } from '../../src/db/database.js';
import { createDatabase, dropDatabase, SERVERS } from './database.js';

export interface HttpAnswer {
  readonly status: number;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- a test reads what it expects, and fails where it is not
  readonly body: any;
  readonly text: string;
  readonly headers: Record<string, string | string[] | number | undefined>;
}

export interface HttpRequest {
  readonly token?: string | undefined;
  /** An object is sent as JSON, a string as it is. */
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

/** A real node in this process: real database, real bus, both doors. */
export class TestNode {
  private constructor(
    readonly app: NestFastifyApplication,
    readonly env: Env,
    readonly home: string,
    private readonly disposable: string | undefined,
  ) {}

  /** Starts one on a database of its own, on that of `beside` as a second node, or on what `settings` name. */
  static async start(settings: NodeJS.ProcessEnv = {}, beside?: TestNode): Promise<TestNode> {
    const given = settings['DATABASE_URL'] ?? beside?.env.DATABASE_URL;
    const databaseUrl = given ?? (await createDatabase());
    const home = settings['NEXUS_HOME'] ?? beside?.home ?? (await mkdtemp(join(tmpdir(), 'nexus-home-')));
    const env = readEnv({
      DATABASE_URL: databaseUrl,
      DATABASE_POOL_MAX: '8',
      NATS_URL: SERVERS.nats,
      NEXUS_BUS_KEYS: SERVERS.busKeys,
      // every database has its own subjects, so that test files can share one nats-server
      NEXUS_BUS_PREFIX: beside?.env.NEXUS_BUS_PREFIX ?? `t${v7().replaceAll('-', '')}`,
      NEXUS_HOME: home,
      NEXUS_HTTP_PORT: '0',
      LOG_LEVEL: process.env['TEST_LOG_LEVEL'] ?? 'silent',
      ...settings,
    });
    const app = await createNode(env);
    await app.startAllMicroservices();
    await app.listen(0, '127.0.0.1');
    const node = new TestNode(app, env, home, given === undefined ? databaseUrl : undefined);
    await node.busIsUp();
    return node;
  }

  get db(): Database {
    return this.app.get(Database);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.app.getHttpServer().address() as { port: number }).port}`;
  }

  /** A request through the whole REST door, without a socket. */
  async http(
    method: string,
    path: string,
    { token, body, headers = {} }: HttpRequest = {},
  ): Promise<HttpAnswer> {
    const answer = await this.app.inject({
      method: method as 'GET',
      url: path,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined
        ? {}
        : { payload: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body) }),
    });
    const text = answer.body;
    let parsed: unknown;
    try {
      parsed = JSON.parse(text);
    } catch {
      parsed = undefined;
    }
    return { status: answer.statusCode, body: parsed, text, headers: answer.headers };
  }

  async close(): Promise<void> {
    await this.app.close();
    if (this.disposable !== undefined) {
      await dropDatabase(this.disposable);
      await rm(this.home, { recursive: true, force: true });
    }
  }

  private async busIsUp(): Promise<void> {
    const bus = this.app.get(BusConnections);
    const accounts = await this.db.pool.query<{ id: AccountId }>('select account_id as id from bus_accounts');
    const serving = accounts.rows.map(({ id }) => bus.of(id));
    if (this.env.NEXUS_BUS_AUTH === 'token') serving.push(bus.of('any' as AccountId));
    const opened = [bus.nodes, ...serving].map(
      (connection) => new Promise<NatsConnection>((resolve) => connection.onOpen(resolve)),
    );
    // what was subscribed is known to the server
    await Promise.all(opened.map(async (connection) => (await connection).flush()));
  }
}
