import { Injectable } from '@nestjs/common';
import { RevocationHooks } from '../identity/revocation-hooks.js';
import { SettledTasks } from './settled-tasks.js';
import { settleRevoked } from './settle-revoked.sql.js';

/**
 * Settles an executor's open tasks in the very transaction that revokes it (chapter 1). Whoever accepts a call for it holds
 * its row meanwhile, so that nothing is accepted behind the settlement.
 */
@Injectable()
export class Revocation {
  constructor(hooks: RevocationHooks, settled: SettledTasks) {
    hooks.add(async (sql, executorId) => {
      const rows = await sql.rows(settleRevoked, executorId);
      return () => settled.announce(rows);
    });
  }
}
