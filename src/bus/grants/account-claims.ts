import { setTimeout as pause } from 'node:timers/promises';
import {
  type BeforeApplicationShutdown,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import pLimit from 'p-limit';
import type { AccountId } from '../../db/account-id.js';
import { Database } from '../../db/database.js';
import { accountJwt } from './account-jwt.js';
import {
  lockTelling,
  noteTold,
  readRevokedUsers,
  readTelling,
  readUntoldBusAccounts,
} from './bus-accounts.sql.js';
import { NodeUsers } from './node-users.js';
import { SystemLink } from './system-link.js';

/** How often what the server was not told yet is looked for: after a fault, or when another node died before it told. */
const LOOK_EVERY_MS = 1_000;
const ACCOUNTS_AT_ONCE = 100;
/** How many accounts are told of at once; each takes a connection to the database meanwhile. */
const TOLD_AT_ONCE = 2;
/** The list must fit a message (1.5 MB): 10,000 keys make a JWT of 0.95 MB. */
const REVOKED_MOST = 10_000;

/**
 * What the server knows of every account: that it is there, and which of its users are revoked. The list is what the
 * database says; a change raises the account's `wanted` in its own transaction, and whichever node tells the server raises
 * `told` to it. Invariant: one node at a time tells of an account, what the database says at that moment.
 */
@Injectable()
export class AccountClaims implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly log = new Logger(AccountClaims.name);
  private readonly turns = pLimit(TOLD_AT_ONCE);
  private readonly queued = new Map<AccountId, Promise<void>>();
  private readonly known = new Map<AccountId, Known>();
  private looking: NodeJS.Timeout | undefined;

  constructor(
    private readonly users: NodeUsers,
    private readonly system: SystemLink,
    private readonly database: Database,
  ) {}

  onApplicationBootstrap(): void {
    if (!this.users.keys) return;
    // a server that came back may have lost what it was told
    this.system.connection.onChange((up) => {
      if (up) for (const accountId of this.known.keys()) this.tellOrSay(accountId);
    });
    this.looking = setInterval(() => void this.look(), LOOK_EVERY_MS).unref();
    this.system.connection.open();
  }

  beforeApplicationShutdown(): void {
    clearInterval(this.looking);
  }

  /** Resolves when the server has heard of the account from this node: tried until it has. */
  heardOf(accountId: AccountId): Promise<void> {
    let known = this.known.get(accountId);
    if (!known) {
      known = new Known();
      this.known.set(accountId, known);
      if (this.system.connection.isUp) this.tellOrSay(accountId);
    }
    return known.heard;
  }

  /** Tells the server what changed, and waits for that, `limitMs` at most: it is told later where it can't be now. */
  async settle(accountId: AccountId, limitMs: number): Promise<void> {
    if (!this.users.keys) return;
    const told = this.tell(accountId).catch((fault: Error) => this.say(fault));
    await Promise.race([told, pause(limitMs, undefined, { ref: false })]);
  }

  /** A change that comes while an account waits for its turn is told with it. */
  private tell(accountId: AccountId): Promise<void> {
    let queued = this.queued.get(accountId);
    if (!queued) {
      queued = this.turns(() => {
        this.queued.delete(accountId);
        return this.tellNow(accountId);
      });
      this.queued.set(accountId, queued);
    }
    return queued;
  }

  private async tellNow(accountId: AccountId): Promise<void> {
    const { keys } = this.users;
    if (!keys) return;
    await this.database.transaction(async (sql) => {
      await sql.rows(lockTelling, accountId);
      const state = await sql.row(readTelling, accountId);
      if (!state) return;
      const { name, wanted, isTold, issuedAt: before } = state;
      const revoked = await sql.rows(readRevokedUsers, accountId, REVOKED_MOST);
      if (revoked.length === REVOKED_MOST)
        this.log.warn(`account ${accountId}: the list of revoked users is full`);
      // servers of a cluster keep the one that was issued later
      const issuedAt = isTold ? before : Math.max(Math.floor(Date.now() / 1_000), before + 1);
      const claims = { name, issuedAt, revoked: revoked.map(({ key }) => key) };
      await this.system.tell(accountJwt(keys, keys.account(accountId), claims));
      if (!isTold) await sql.rows(noteTold, accountId, wanted, issuedAt);
    });
    this.known.get(accountId)?.isHeard();
  }

  private async look(): Promise<void> {
    if (!this.system.connection.isUp) return;
    for (const [accountId, known] of this.known) if (!known.wasHeard) this.tellOrSay(accountId);
    try {
      const untold = await this.database.rows(readUntoldBusAccounts, ACCOUNTS_AT_ONCE);
      for (const { accountId } of untold) this.tellOrSay(accountId);
    } catch (fault) {
      this.say(fault as Error);
    }
  }

  private tellOrSay(accountId: AccountId): void {
    this.tell(accountId).catch((fault: Error) => this.say(fault));
  }

  private say(fault: Error): void {
    this.log.warn(`the server was not told of an account yet: ${fault.message}`);
  }
}

/** Whether the server has heard of one account from this node. */
class Known {
  wasHeard = false;
  readonly heard: Promise<void>;
  private resolve!: () => void;

  constructor() {
    this.heard = new Promise((resolve) => (this.resolve = resolve));
  }

  isHeard(): void {
    this.wasHeard = true;
    this.resolve();
  }
}
