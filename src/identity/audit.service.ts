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
const forget = statement<[], never>(
  'audit_forget',
  `delete from audit_entries where at < now() - interval '400 days'`,
);

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

  /** Deletes what is older than 400 days. */
  async forgetOld(): Promise<void> {
    await this.database.rows(forget);
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
