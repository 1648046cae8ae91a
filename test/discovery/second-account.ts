import { createAccount } from '../../src/identity/new-account.js';
import type { TestAccount } from '../support/factories.js';
import type { TestNode } from '../support/node.js';

/** Another account with an administrator, made as `nexus accounts create` makes it: on the server's side. */
export async function secondAccount(node: TestNode): Promise<TestAccount> {
  const { platformToken, administratorId } = await node.db.transaction((sql) => createAccount(sql, 'second'));
  return { platformToken, adminId: administratorId };
}
