import { createAccountAt } from '../../src/cli/create-account-at.js';
import { accountOf, type TestAccount } from '../support/factories.js';
import type { TestNode } from '../support/node.js';

/** Another account on the node's database, made as `nexus accounts create` makes it. */
export async function anotherAccount(node: TestNode): Promise<TestAccount> {
  const { platformToken } = await createAccountAt(node.env.DATABASE_URL ?? '', 'Second team');
  return accountOf(node, platformToken);
}
