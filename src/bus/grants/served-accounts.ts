import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import type { AccountId } from '../../db/account-id.js';
import { Database } from '../../db/database.js';
import { BusConnections } from '../bus-connections.js';
import { NodeEvents } from '../node-events.js';
import { readBusAccounts } from './bus-accounts.sql.js';
import { NodeUsers } from './node-users.js';

const PAGE = 200;
const FIRST = '00000000-0000-0000-0000-000000000000' as AccountId;

/**
 * Which accounts a node serves on a managed bus: each that has bus users, from the start or from when another node tells
 * of it. Where events may have been missed it reads them all again.
 */
@Injectable()
export class ServedAccounts implements OnApplicationBootstrap {
  private readonly log = new Logger(ServedAccounts.name);

  constructor(
    private readonly users: NodeUsers,
    private readonly connections: BusConnections,
    private readonly events: NodeEvents,
    private readonly database: Database,
  ) {}

  onApplicationBootstrap(): void {
    if (!this.users.keys) return;
    this.events.on('bus_account', ({ id }) => void this.connections.of(id));
    this.events.onGap(() => this.serveAll());
    this.serveAll();
  }

  private serveAll(): void {
    this.readAll().catch((fault: Error) => this.log.warn(`accounts were not read: ${fault.message}`));
  }

  private async readAll(): Promise<void> {
    for (let after: AccountId | undefined = FIRST; after !== undefined;) {
      const page: { accountId: AccountId }[] = await this.database.rows(readBusAccounts, after, PAGE);
      for (const { accountId } of page) this.connections.of(accountId);
      after = page.length === PAGE ? page.at(-1)?.accountId : undefined;
    }
  }
}
