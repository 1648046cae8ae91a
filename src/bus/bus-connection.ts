import { setTimeout as pause } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { connect, type ConnectionOptions, Events, type NatsConnection, type PublishOptions } from 'nats';

const SAY_EVERY_MS = 10_000;
const LETS_EVERYBODY_IN =
  'NATS at NATS_URL lets everybody in: start it with what `nexus bus-config` prints, or set NEXUS_BUS_AUTH=token';
const NOT_YET =
  'not connected yet: is NATS_URL in reach, and does that server run with what `nexus bus-config` prints for this node?';

/** The addresses of a setting, which separates them by commas. */
export const serversOf = (urls: string): string[] => urls.split(',').map((url) => url.trim());

/** One connection that comes back by itself, and tells when. */
export class BusConnection {
  private connection: NatsConnection | undefined;
  private closing = false;
  private up = false;
  private readonly openers: ((connection: NatsConnection) => void)[] = [];
  private readonly changes: ((up: boolean) => void)[] = [];
  private readonly log: Logger;

  /** `options` are asked for when it is opened. */
  constructor(
    private readonly role: string,
    private readonly options: () => ConnectionOptions,
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

  /** Publishes if it can. False when the connection is down: the message is lost. Throws where it is too large. */
  publish(subject: string, payload: string, options?: PublishOptions): boolean {
    if (!this.connection || !this.up || this.connection.isClosed() || this.connection.isDraining())
      return false;
    this.connection.publish(subject, payload, options);
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
    const waiting = setInterval(() => this.log.warn(NOT_YET), SAY_EVERY_MS).unref();
    const connection = await this.connected().finally(() => clearInterval(waiting));
    if (!connection || this.closing) return connection?.close();
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

  /** Who must prove who they are are not at the right place where nobody must. */
  private async connected(): Promise<NatsConnection | undefined> {
    const options = this.options();
    while (!this.closing) {
      const connection = await connect({
        name: `nexus ${this.role}`,
        maxReconnectAttempts: -1,
        waitOnFirstConnect: true,
        ignoreAuthErrorAbort: true,
        noAsyncTraces: true,
        reconnectTimeWait: 200,
        reconnectJitter: 200,
        pingInterval: 10_000,
        ...options,
      });
      if (this.closing || !options.authenticator || connection.info?.auth_required) return connection;
      this.log.error(LETS_EVERYBODY_IN);
      await connection.close();
      await pause(SAY_EVERY_MS, undefined, { ref: false });
    }
    return undefined;
  }

  private setUp(up: boolean): void {
    this.up = up;
    this.log.log(up ? 'connected' : 'disconnected');
    for (const heard of this.changes) heard(up);
  }
}
