import type { AccountId } from '../db/account-id.js';
import { statement } from '../db/statement.js';
import { eligible } from '../identity/eligibility.sql.js';

/**
 * Which of these runners the member may address just now, in one statement by primary key. An unknown, a foreign and an
 * ineligible runner are alike: no row (chapter 1, Eligible for M).
 */
export const eligibleRunners = statement<
  [accountId: AccountId, memberId: string, runnerIds: readonly string[]],
  { id: string; display_name: string }
>(
  'assembly_eligible_runners',
  `select e.id, e.display_name
   from members m join executors e on e.account_id = m.account_id
   where m.account_id = $1 and m.id = $2 and e.id = any ($3::uuid[]) and e.kind = 'runner' and ${eligible('e', 'm')}`,
);
