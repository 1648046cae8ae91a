import { setTimeout as pause } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import { KeyedDatabase } from '../db/keyed-database.js';
import { RevocationHooks } from '../identity/revocation-hooks.js';
import { SettledTasks } from './settled-tasks.js';
import { settleRevoked } from './settle-revoked.sql.js';

/** After this long no acceptance is under way any more that saw the executor active. */
const AFTERMATH_MS = 1_000;

/**
 * Settles an executor's open tasks in the very transaction that revokes it (chapter 1), and once more soon after: a call
 * that was being accepted at that moment has seen the executor active and was not to be seen itself.
 */
@Injectable()
export class Revocation {
  private readonly log = new Logger(Revocation.name);

  constructor(
    hooks: RevocationHooks,
    private readonly database: KeyedDatabase,
    private readonly settled: SettledTasks,
  ) {
    hooks.add(async (sql, executorId) => {
      const rows = await sql.rows(settleRevoked, executorId);
      return () => {
        settled.announce(rows);
        void this.settleLate(executorId);
      };
    });
  }

  private async settleLate(executorId: string): Promise<void> {
    await pause(AFTERMATH_MS, undefined, { ref: false });
    try {
      this.settled.announce(await this.database.rows(settleRevoked, executorId));
    } catch (fault) {
      this.log.warn(`late calls of a revoked executor wait for their deadline: ${(fault as Error).message}`);
    }
  }
}
