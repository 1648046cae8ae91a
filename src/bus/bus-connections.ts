import { setTimeout as pause } from 'node:timers/promises';
import { Inject, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { connect, type ConnectionOptions, Events, type NatsConnection } from 'nats';
import { ENV, type Env } from '../config/env.js';
import type { AccountId } from '../db/account-id.js';

/**
 * A node's connections to NATS: one that serves executors and members, and `nodes` for the nodes among themselves.
 * They keep trying for ever, also at the start: a lost bus never stops a node. Invariant: whoever publishes while a
 * connection is down loses a push, never a fact.
 */
@Injectable()
export class BusConnections implements OnApplicationBootstrap {
  readonly nodes: BusConnection;
  private readonly serving: BusConnection;

  constructor(@Inject(ENV) env: Env) {
    const servers = env.NATS_URL.split(',').map((server) => server.trim());
    this.serving = new BusConnection('serving', { servers, inboxPrefix: '_INBOX.nexus' });
    this.nodes = new BusConnection('nodes', { servers, noEcho: true });
  }

  onApplicationBootstrap(): void {
    this.serving.open();
    this.nodes.open();
  }

  /** The connection that reaches the executors and members of an account. */
  of(_accountId: AccountId): BusConnection {
    return this.serving;
  }

  /** Calls `use` with every connection that executors and members are served on, once it is made. */
  onServing(use: (connection: NatsConnection) => void): void {
    this.serving.onOpen(use);
  }

  get isUp(): boolean {
    return this.serving.isUp && this.nodes.isUp;
  }

  /** Closes both, after what they still have to say has left. Called last, when both doors are shut. */
  async close(): Promise<void> {
    await Promise.all([this.serving.close(), this.nodes.close()]);
  }
}

/** One connection that comes back by itself, and tells when. */
export class BusConnection {
  private connection: NatsConnection | undefined;
  private closing = false;
  private up = false;
  private readonly openers: ((connection: NatsConnection) => void)[] = [];
  private readonly changes: ((up: boolean) => void)[] = [];
  private readonly log: Logger;

  constructor(
    private readonly role: string,
    private readonly options: ConnectionOptions,
  ) {
    this.log = new Logger(`Bus ${role}`);
  }

  get isUp(): boolean {
    return this.up;
  }

  /** The connection, once it was made; it may be down. */
  get current(): NatsConnection | undefined {
    return this.connection;
  }

  /** Calls `use` with the connection when it is made for the first time. Subscriptions survive reconnects. */
  onOpen(use: (connection: NatsConnection) => void): void {
    if (this.connection) use(this.connection);
    else this.openers.push(use);
  }

  /** Calls `heard` whenever the connection comes up or goes down. */
  onChange(heard: (up: boolean) => void): void {
    this.changes.push(heard);
  }

  open(): void {
    this.keepOpen().catch((fault: Error) => this.log.error(`gave up: ${fault.message}`));
  }

  /** Publishes if it can. False when the connection is down: the message is lost. */
  publish(subject: string, payload: string): boolean {
    if (!this.connection || !this.up || this.connection.isClosed() || this.connection.isDraining())
      return false;
    this.connection.publish(subject, payload);
    return true;
  }

  /** Resolves when everything published so far has reached the server, after `limitMs` at most; at once when it is down. */
  async flush(limitMs: number): Promise<void> {
    if (!this.connection || !this.up) return;
    const limit = new AbortController();
    const { signal } = limit;
    const late = pause(limitMs, undefined, { signal, ref: false }).catch(() => undefined);
    await Promise.race([this.connection.flush().catch(() => undefined), late]);
    limit.abort();
  }

  async close(): Promise<void> {
    this.closing = true;
    const { connection } = this;
    if (!connection || connection.isClosed()) return;
    if (this.up) await connection.drain().catch(() => undefined);
    await connection.close();
  }

  private async keepOpen(): Promise<void> {
    const connection = await connect({
      name: `nexus ${this.role}`,
      maxReconnectAttempts: -1,
      waitOnFirstConnect: true,
      ignoreAuthErrorAbort: true,
      noAsyncTraces: true,
      reconnectTimeWait: 200,
      reconnectJitter: 200,
      pingInterval: 10_000,
      ...this.options,
    });
    if (this.closing) return connection.close();
    this.connection = connection;
    this.setUp(true);
    for (const use of this.openers.splice(0)) use(connection);
    for await (const status of connection.status()) {
      if (status.type === Events.Disconnect) this.setUp(false);
      else if (status.type === Events.Reconnect) this.setUp(true);
      else if (status.type === Events.Error)
        this.log.error({ fault: status.data as unknown, ...status.permissionContext });
    }
  }

  private setUp(up: boolean): void {
    this.up = up;
    this.log.log(up ? 'connected' : 'disconnected');
    for (const heard of this.changes) heard(up);
  }
}
