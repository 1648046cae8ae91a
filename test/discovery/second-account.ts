import { newId } from '../../src/db/ids.js';
import { mintToken } from '../../src/identity/token.js';
import type { TestAccount } from '../support/factories.js';
import type { TestNode } from '../support/node.js';

/** Another account with an administrator, made as `nexus accounts create` makes it: on the server's side. */
export async function secondAccount(node: TestNode): Promise<TestAccount> {
  const [accountId, adminId] = [newId(), newId()];
  const { id, token, secretSha256 } = mintToken('platform');
  const { pool } = node.db;
  await pool.query(`insert into accounts (id, display_name) values ($1, 'second')`, [accountId]);
  await pool.query(
    `insert into members (id, account_id, kind, display_name, role) values ($1, $2, 'human', 'Second administrator', 'admin')`,
    [adminId, accountId],
  );
  await pool.query(
    `insert into credentials (id, account_id, plane, name, member_id, secret_sha256) values ($1, $2, 'platform', 'first', $3, $4)`,
    [id, accountId, adminId, secretSha256],
  );
  return { platformToken: token, adminId };
}
