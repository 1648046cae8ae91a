import type { AccountId } from '../db/account-id.js';
import { newId } from '../db/ids.js';
import { type Sql, statement } from '../db/statement.js';

/** One thing that an administrator, a manager or a steward did. Never holds secrets or inputs (chapter 1). */
export interface AuditRecord {
  readonly accountId: AccountId;
  /** The member who did it; null for the server itself. */
  readonly actorId: string | null;
  /** `<subject>.<past participle>`, as in `executor.revoked`. */
  readonly action: string;
  readonly subjectId: string | null;
  readonly detail?: Readonly<Record<string, unknown>>;
}

const insertAudit = statement<
  [string, AccountId, string | null, string, string | null, string | null],
  never
>(
  'audit_insert',
  `insert into audit_entries (id, account_id, actor_id, action, subject_id, detail) values ($1, $2, $3, $4, $5, $6::json)`,
);

/** Appends to the audit, in the transaction of the change itself. */
export async function recordAudit(sql: Sql, record: AuditRecord): Promise<void> {
  const { accountId, actorId, action, subjectId, detail } = record;
  await sql.rows(
    insertAudit,
    newId(),
    accountId,
    actorId,
    action,
    subjectId,
    detail ? JSON.stringify(detail) : null,
  );
}
