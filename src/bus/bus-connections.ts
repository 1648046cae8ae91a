import { setTimeout as pause } from 'node:timers/promises';
import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import type { NatsConnection } from 'nats';
import { ENV, type Env } from '../config/env.js';
import type { AccountId } from '../db/account-id.js';
import { BusConnection, serversOf } from './bus-connection.js';
import { AccountClaims } from './grants/account-claims.js';
import { NodeUsers } from './grants/node-users.js';
import { NODE_INBOX } from './grants/permissions.js';
import { SystemLink } from './grants/system-link.js';

/** Told of a connection that executors and members are served on; it has no account where the bus is not managed. */
export type Serve = (connection: NatsConnection, accountId: AccountId | undefined) => void;

/**
 * A node's connections to NATS: `nodes` for the nodes among themselves, and those that serve executors and members, one
 * for each account on a managed bus, opened when first needed, else one for all. They keep trying for ever, also at the
 * start: a lost bus never stops a node. Invariant: whoever publishes while a connection is down loses a push, never a fact.
 */
@Injectable()
export class BusConnections implements OnApplicationBootstrap {
  readonly nodes: BusConnection;
  private readonly servers: readonly string[];
  private readonly accounts = new Map<AccountId | undefined, BusConnection>();
  private readonly serve: Serve[] = [];
  private closing = false;

  constructor(
    @Inject(ENV) env: Env,
    private readonly users: NodeUsers,
    private readonly claims: AccountClaims,
    private readonly system: SystemLink,
  ) {
    this.servers = serversOf(env.NATS_URL);
    this.nodes = new BusConnection('nodes', () => ({
      servers: [...this.servers],
      noEcho: true,
      ...users.amongNodes(),
    }));
  }

  onApplicationBootstrap(): void {
    this.nodes.open();
    if (!this.users.keys) this.serving(undefined);
  }

  /** The connection that reaches the executors and members of an account. */
  of(accountId: AccountId): BusConnection {
    return this.serving(this.users.keys ? accountId : undefined);
  }

  /** Calls `serve` with every connection that executors and members are served on, once it is made. */
  onServing(serve: Serve): void {
    this.serve.push(serve);
    for (const [accountId, connection] of this.accounts) connection.onOpen((made) => serve(made, accountId));
  }

  /** Resolves when the account is served here, after `limitMs` at most; at once when the bus is down. */
  async reach(accountId: AccountId, limitMs: number): Promise<void> {
    if (!this.isUp) return void this.of(accountId);
    const open = new Promise<void>((resolve) => this.of(accountId).onOpen(() => resolve()));
    const late = Date.now() + limitMs;
    await Promise.race([open, pause(limitMs, undefined, { ref: false })]);
    await this.of(accountId).flush(Math.max(0, late - Date.now()));
  }

  /** Whether every connection is up that was ever made. */
  get isUp(): boolean {
    if (!this.nodes.isUp || (this.users.keys && !this.system.connection.isUp)) return false;
    for (const connection of this.accounts.values()) if (connection.current && !connection.isUp) return false;
    return true;
  }

  /** Closes all of them, after what they still have to say has left. Called last, when both doors are shut. */
  async close(): Promise<void> {
    this.closing = true;
    const all = [...this.accounts.values(), this.nodes, this.system.connection];
    await Promise.all(all.map((connection) => connection.close()));
  }

  private serving(accountId: AccountId | undefined): BusConnection {
    const known = this.accounts.get(accountId);
    if (known) return known;
    const connection = new BusConnection(
      accountId === undefined ? 'serving' : `account ${accountId}`,
      () => ({
        servers: [...this.servers],
        inboxPrefix: NODE_INBOX,
        ...(accountId === undefined ? {} : this.users.inAccount(accountId)),
      }),
    );
    this.accounts.set(accountId, connection);
    for (const serve of this.serve) connection.onOpen((made) => serve(made, accountId));
    if (accountId === undefined) connection.open();
    // the server must know the account before it lets anybody in
    else void this.claims.heardOf(accountId).then(() => this.closing || connection.open());
    return connection;
  }
}
