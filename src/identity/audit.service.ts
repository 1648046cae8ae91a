import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { Database } from '../db/database.js';
import { statement } from '../db/statement.js';
import type { PlatformCaller } from '../doors/caller.js';
import type { VerbInput } from '../doors/input.js';
import { accountPage } from './account-page.js';
import { AuditEntry } from './audit-entry.entity.js';

/** The audit is kept 400 days (chapter 1). */
const forget = statement<[limit: number], { count: number }>(
  'audit_forget',
  `with old as materialized (
     select id from audit_entries where at < now() - interval '400 days' order by at limit $1
   ), forgotten as (
     delete from audit_entries e using old where e.id = old.id returning 1
   )
   select count(*)::integer as count from forgotten`,
);

/** Entries that are forgotten in one statement. */
const FORGOTTEN = 1_000;

/** Reads the audit. `recordAudit` writes it, with each change. */
@Injectable()
export class AuditService {
  constructor(
    @InjectRepository(AuditEntry) private readonly entries: Repository<AuditEntry>,
    private readonly database: Database,
  ) {}

  async list({ accountId }: PlatformCaller, input: VerbInput): Promise<object> {
    const { rows, pagination } = await accountPage(this.entries, accountId, input, { newestFirst: true });
    return { entries: rows.map(entryJson), pagination };
  }

  /** Deletes what is older than 400 days, a bounded number at a time. */
  async forgetOld(): Promise<void> {
    while ((await this.database.row(forget, FORGOTTEN))?.count === FORGOTTEN);
  }
}

const entryJson = ({ id, at, actorId, action, subjectId, detail }: AuditEntry): object => ({
  public_id: id,
  at,
  actor_public_id: actorId,
  action,
  subject_public_id: subjectId,
  detail,
});
