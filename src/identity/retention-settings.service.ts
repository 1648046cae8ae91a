import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import type { AccountId } from '../db/account-id.js';
import { Database } from '../db/database.js';
import { statement } from '../db/statement.js';
import type { PlatformCaller } from '../doors/caller.js';
import { Account } from './account.entity.js';
import { recordAudit } from './audit.js';

const changeDays = statement<[AccountId, days: number | null], never>(
  'retention_change',
  `update accounts set execution_details_retention_days = $2 where id = $1`,
);

/** Owns the account's retention setting (chapter 7). What is pruned by it is the retention module's. */
@Injectable()
export class RetentionSettingsService {
  constructor(
    @InjectRepository(Account) private readonly accounts: Repository<Account>,
    private readonly database: Database,
  ) {}

  async read({ accountId }: PlatformCaller): Promise<object> {
    const account = await this.accounts.findOneByOrFail({ id: accountId });
    return { execution_details_retention_days: account.executionDetailsRetentionDays };
  }

  async change({ accountId, memberId: actorId }: PlatformCaller, days: number | null): Promise<object> {
    const detail = { execution_details_retention_days: days };
    await this.database.transaction(async (sql) => {
      await sql.rows(changeDays, accountId, days);
      await recordAudit(sql, {
        accountId,
        actorId,
        action: 'retention.changed',
        subjectId: accountId,
        detail,
      });
    });
    return detail;
  }
}
