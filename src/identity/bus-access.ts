import { Inject, Injectable } from '@nestjs/common';
import { BusConnections } from '../bus/bus-connections.js';
import { AccountClaims } from '../bus/grants/account-claims.js';
import { outdateBusAccount, rememberBusAccount } from '../bus/grants/bus-accounts.sql.js';
import { NodeUsers } from '../bus/grants/node-users.js';
import { type ExecutorPrincipal, Grants, type Permissions } from '../bus/grants/permissions.js';
import { newUser } from '../bus/grants/user-jwt.js';
import { serversOf } from '../bus/bus-connection.js';
import { NodeEvents } from '../bus/node-events.js';
import { Subjects } from '../bus/subjects.js';
import { ENV, type Env } from '../config/env.js';
import type { AccountId } from '../db/account-id.js';
import type { Sql } from '../db/statement.js';
import { writeCreds } from '../nkeys/creds.js';

/** How to speak on the bus, told beside a secret (chapter 8). */
interface BusAnswer<Names> {
  readonly servers: readonly string[];
  /** A `.creds` text where Nexus manages NATS; null where every message carries the token. */
  readonly credentials: string | null;
  readonly subjects: Names;
}

/** A way to the bus that was just made. */
interface Issued<Names> {
  readonly bus: BusAnswer<Names>;
  /** The public key of its user, by which it is revoked; null where there is none. */
  readonly userKey: string | null;
}

/** A new user may connect, and a revoked one is cut off, before the answer: where the bus can't, it follows within this. */
const SETTLED_WITHIN_MS = 1_000;

/**
 * Issues and revokes ways to the bus beside secrets. Invariant: each is issued once, with a key of its own, of which only
 * the public half is kept. Never tells the node's own way in.
 */
@Injectable()
export class BusAccess {
  private readonly subjects: Subjects;
  private readonly grants: Grants;
  private readonly servers: readonly string[];

  constructor(
    @Inject(ENV) env: Env,
    private readonly users: NodeUsers,
    private readonly claims: AccountClaims,
    private readonly connections: BusConnections,
    private readonly events: NodeEvents,
  ) {
    this.subjects = new Subjects(env.NEXUS_BUS_PREFIX);
    this.grants = new Grants(env.NEXUS_BUS_PREFIX);
    this.servers = toldServers(env);
  }

  issueToExecutor(
    sql: Sql,
    accountId: AccountId,
    executor: ExecutorPrincipal,
  ): Promise<Issued<ReturnType<Subjects['forExecutor']>>> {
    const { id, epoch } = executor;
    const name = `executor ${id} epoch ${epoch}`;
    const subjects = this.subjects.forExecutor(id, epoch);
    return this.issue(sql, accountId, { name, subjects, permissions: this.grants.executor(executor) });
  }

  issueToMember(
    sql: Sql,
    accountId: AccountId,
    credentialId: string,
    expiresAt: Date | null,
  ): Promise<Issued<ReturnType<Subjects['forMember']>>> {
    const name = `credential ${credentialId}`;
    const subjects = this.subjects.forMember(credentialId);
    const permissions = this.grants.member(credentialId);
    return this.issue(sql, accountId, { name, subjects, permissions, expiresAt });
  }

  /** In the transaction that revokes credentials: from its commit on the server's list is out of date. */
  async revokeWith(sql: Sql, accountId: AccountId): Promise<void> {
    if (this.users.keys) await sql.rows(outdateBusAccount, accountId);
  }

  /** After the commit of an issue: the account is served, so that the credentials work as soon as they are answered. */
  async afterIssue(accountId: AccountId): Promise<void> {
    if (!this.users.keys) return;
    this.events.publish('bus_account', { id: accountId });
    await this.connections.reach(accountId, SETTLED_WITHIN_MS);
  }

  /** After the commit of a revocation: the server cuts off whom it revokes. */
  afterRevocation(accountId: AccountId): Promise<void> {
    return this.claims.settle(accountId, SETTLED_WITHIN_MS);
  }

  private async issue<Names>(
    sql: Sql,
    accountId: AccountId,
    user: { name: string; subjects: Names; permissions: Permissions; expiresAt?: Date | null },
  ): Promise<Issued<Names>> {
    const { name, subjects, permissions, expiresAt } = user;
    const { servers } = this;
    const { keys } = this.users;
    if (!keys) return { bus: { servers, credentials: null, subjects }, userKey: null };
    await sql.rows(rememberBusAccount, accountId);
    const { jwt, key } = newUser(keys.account(accountId), name, permissions, expiresAt);
    return { bus: { servers, credentials: writeCreds(jwt, key), subjects }, userKey: key.publicKey };
  }
}

/** The NATS addresses that executors and members are told. */
export const toldServers = (env: Pick<Env, 'NATS_URL' | 'NEXUS_PUBLIC_NATS_URL'>): string[] =>
  env.NEXUS_PUBLIC_NATS_URL ? serversOf(env.NEXUS_PUBLIC_NATS_URL) : serversOf(env.NATS_URL).map(withoutUser);

/** The address without `user:password@`, which are the node's. */
const withoutUser = (url: string): string => url.replace(/^((?:\w+:\/\/)?)[^/@]*@/, '$1');
