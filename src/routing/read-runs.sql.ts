import type { AccountId } from '../db/account-id.js';
import { statement } from '../db/statement.js';
import { runColumns, runProgress, type RunRow } from './run-row.js';

/** One run; who may see it was asked before. */
export const readRun = statement<[accountId: AccountId, id: string], RunRow>(
  'run_read',
  `select ${runColumns('r')} from runs r ${runProgress('r')} where r.account_id = $1 and r.id = $2`,
);

type PageParams = [accountId: AccountId, memberId: string, before: string | null, limit: number];

/**
 * A member's page: the runs whose principal they are or steward, newest first, before the run that `before` names. Each
 * principal's newest come from an index, and only the page's own rows look at their tasks.
 */
export const readRunsOfMember = statement<PageParams, RunRow>(
  'runs_read_of_member',
  `select ${runColumns('r')}
   from (
     select mine.* from members m
     cross join lateral (
       select * from runs one where one.principal_id = m.id and ($3::uuid is null or one.id < $3)
       order by one.id desc limit $4) mine
     where m.account_id = $1 and (m.id = $2 or m.steward_id = $2)
     order by mine.id desc limit $4
   ) r ${runProgress('r')}
   order by r.id desc`,
);

/** An administrator's page: every run of the account. */
export const readRunsOfAccount = statement<
  [accountId: AccountId, before: string | null, limit: number],
  RunRow
>(
  'runs_read_of_account',
  `select ${runColumns('r')}
   from (
     select * from runs one where one.account_id = $1 and ($2::uuid is null or one.id < $2)
     order by one.id desc limit $3
   ) r ${runProgress('r')}
   order by r.id desc`,
);
