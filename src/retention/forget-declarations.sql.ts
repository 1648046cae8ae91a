import type { AccountId } from '../db/account-id.js';
import { statement } from '../db/statement.js';

/** SQL: no run has the declaration `d`. */
const isUnused = (d: string): string => `not exists (
  select from runs r where r.account_id = ${d}.account_id and r.declaration_digest = ${d}.digest)`;

/**
 * Locks at most `limit` declarations that no run uses. One that a run is just being made with is locked by its creation, and
 * left.
 */
export const lockUnusedDeclarations = statement<[accountId: AccountId, limit: number], { digest: Buffer }>(
  'retention_lock_unused_declarations',
  `select d.digest from declarations d where d.account_id = $1 and ${isUnused('d')}
   order by d.digest limit $2 for update skip locked`,
);

/**
 * Deletes those of the locked declarations that no run uses still. A statement after the one that locks, since only its
 * snapshot shows a run that was made before the lock.
 */
export const deleteDeclarations = statement<
  [accountId: AccountId, digests: readonly Buffer[]],
  { digest: Buffer }
>(
  'retention_delete_declarations',
  `delete from declarations d where d.account_id = $1 and d.digest = any ($2::bytea[]) and ${isUnused('d')}
   returning d.digest`,
);
