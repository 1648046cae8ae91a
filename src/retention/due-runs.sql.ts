import type { AccountId } from '../db/account-id.js';
import { statement } from '../db/statement.js';

/** Days that a timestamp can be taken back by; a longer retention keeps as long. */
const DAYS_MAX = 1_000_000;

/** SQL: the account with the moment before which its runs are due; no row where it keeps them for ever. */
const account = `
  select a.id, now() - least(a.execution_details_retention_days, ${DAYS_MAX}) * interval '1 day' as cutoff
  from accounts a where a.id = $1 and a.execution_details_retention_days is not null`;

/**
 * SQL: whether a run has aged (chapter 7, Retention): it is as old as the cutoff, has no open task, and none that settled
 * since. An open run never ages; one that never had a task ages from its creation.
 */
const isDue = (r: string, cutoff: string): string => `(${r}.created_at <= ${cutoff} and not exists (
  select from tasks t where t.run_id = ${r}.id and (t.settled_at is null or t.settled_at > ${cutoff})))`;

/** Where a walk over an account's runs stands: the last run that was looked at. */
export interface RunPlace {
  /** As PostgreSQL writes it: its microseconds tell apart runs that were made together. */
  readonly created_at_text: string;
  readonly id: string;
}

/** A run that is old enough; due where nothing of it is open or younger. */
export interface OldRun extends RunPlace {
  readonly is_due: boolean;
}

/**
 * The next `limit` runs that are old enough and not pruned, in the order they were made, and which of them are due. Takes no
 * lock. It walks `runs_unpruned`, which what is pruned leaves: a pass that was cut short goes on where it was.
 */
export const readOldRuns = statement<
  [accountId: AccountId, afterCreatedAt: string, afterId: string, limit: number],
  OldRun
>(
  'retention_read_old_runs',
  `with account as (${account})
   select old.id, old.created_at::text as created_at_text, ${isDue('old', 'account.cutoff')} as is_due
   from account cross join lateral (
     select r.id, r.created_at from runs r
     where r.account_id = account.id and r.details_pruned_at is null and r.created_at <= account.cutoff
       and (r.created_at, r.id) > ($2::timestamptz, $3::uuid)
     order by r.created_at, r.id limit $4) old
   order by old.created_at, old.id`,
);

/**
 * Locks those of these runs that are not pruned, against acceptance, which shares the row's lock; one that is being accepted
 * on is not due any more, and is left.
 */
export const lockRuns = statement<[accountId: AccountId, ids: readonly string[]], { id: string }>(
  'retention_lock_runs',
  `select r.id from runs r
   where r.account_id = $1 and r.id = any ($2::uuid[]) and r.details_pruned_at is null
   order by r.id for update skip locked`,
);

/**
 * Prunes those of the locked runs that are due still: what they keep is written, the declaration let go, and their tasks
 * queued for deletion. A statement after the one that locks, since only its snapshot shows what was accepted before the lock.
 */
export const pruneRuns = statement<[accountId: AccountId, ids: readonly string[]], { id: string }>(
  'retention_prune_runs',
  `with account as (${account}
   ), pruned as (
     update runs r set details_pruned_at = clock_timestamp(), declaration_digest = null,
       completed_at = (select max(t.settled_at) from tasks t where t.run_id = r.id),
       could_have_written = exists (
         select from tasks t where t.run_id = r.id and t.capture_claimed_at is not null)
     from account
     where r.account_id = account.id and r.id = any ($2::uuid[]) and ${isDue('r', 'account.cutoff')}
     returning r.account_id, r.id
   ), queued as (
     insert into pruned_runs_to_empty (account_id, run_id) select account_id, id from pruned
   )
   select id from pruned`,
);
