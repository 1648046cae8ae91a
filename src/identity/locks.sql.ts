import type { AccountId } from '../db/account-id.js';
import { statement } from '../db/statement.js';

/**
 * Lets one registration or revocation at a time act in an account, so that a key has one executor and a machine name is
 * given once. Foreign keys to the account take a weaker lock: nothing else waits.
 */
export const lockAccount = statement<[accountId: AccountId], never>(
  'account_lock',
  `select from accounts where id = $1 for no key update`,
);
