import type { AccountId } from '../db/account-id.js';
import { newId } from '../db/ids.js';
import { type Sql, statement } from '../db/statement.js';
import { recordAudit } from './audit.js';
import { insertMemberCredential } from './credential.sql.js';
import { insertHuman } from './member.sql.js';
import { mintToken } from './token.js';

const insertAccount = statement<[AccountId, displayName: string], never>(
  'account_insert',
  `insert into accounts (id, display_name) values ($1, $2)`,
);

/** An account that was just made, with the only copy of its first secret. */
export interface NewAccount {
  readonly accountId: AccountId;
  readonly administratorId: string;
  readonly platformToken: string;
}

/** Makes an account with one administrator and one platform credential (chapter 1), in the caller's transaction. */
export async function createAccount(sql: Sql, displayName: string): Promise<NewAccount> {
  const accountId = newId() as AccountId;
  const administratorId = newId();
  const { id, token, secretSha256 } = mintToken('platform');
  await sql.rows(insertAccount, accountId, displayName);
  await sql.rows(insertHuman, administratorId, accountId, 'Administrator', 'admin');
  await sql.rows(
    insertMemberCredential,
    id,
    accountId,
    'platform',
    'first',
    administratorId,
    secretSha256,
    null,
    null,
  );
  await recordAudit(sql, { accountId, actorId: null, action: 'account.created', subjectId: accountId });
  return { accountId, administratorId, platformToken: token };
}
