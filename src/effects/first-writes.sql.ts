import type { AccountId } from '../db/account-id.js';
import { statement } from '../db/statement.js';

/** A capture `first_runner_write`; `checkpoint_text` is SQL null where the commit brought no checkpoint. */
export interface FirstWriteRow {
  readonly of: string;
  readonly runner_id: string;
  readonly run_id: string;
  readonly task_key: string;
  readonly claimed_at: Date;
  readonly checkpoint_text: string | null;
}

const capture = `t.capture_runner_id as runner_id, t.run_id, t.task_key, t.capture_claimed_at as claimed_at,
  t.capture_checkpoint::text as checkpoint_text`;

/** The first claimed write for each runner of each of these runs, by claim time. `of` is the run. */
export const readFirstWritesOfRuns = statement<
  [accountId: AccountId, runIds: readonly string[]],
  FirstWriteRow
>(
  'effects_first_writes_of_runs',
  `select * from (
     select distinct on (t.run_id, t.capture_runner_id) t.run_id as of, ${capture}
     from tasks t
     where t.account_id = $1 and t.run_id = any ($2::uuid[]) and t.capture_claimed_at is not null
     order by t.run_id, t.capture_runner_id, t.capture_claimed_at, t.seq
   ) first order by claimed_at, runner_id`,
);

/** The runs of a conversation from this one on, in the order they were made; none where it is not one of them. */
const later = `select r.id, r.details_pruned_at, r.could_have_written from runs r
  join runs one on one.id = $3 and one.conversation_id = r.conversation_id
  where r.account_id = $1 and r.conversation_id = $2 and (r.created_at, r.id) >= (one.created_at, one.id)`;

/** Whether the run is one of the conversation, and whether retention pruned one of them that could have written. */
export const readRunsFrom = statement<
  [accountId: AccountId, conversationId: string, fromRunId: string],
  { is_there: boolean; is_pruned: boolean }
>(
  'effects_runs_from',
  `select count(*) > 0 as is_there, coalesce(bool_or(details_pruned_at is not null and could_have_written is not false), false) as is_pruned
   from (${later}) later`,
);

/** The first claimed write for each runner over that run and all later ones. `of` is the conversation. */
export const readFirstWritesFrom = statement<
  [accountId: AccountId, conversationId: string, fromRunId: string],
  FirstWriteRow
>(
  'effects_first_writes_from',
  `select * from (
     select distinct on (t.capture_runner_id) $2::uuid as of, ${capture}
     from (${later}) later join tasks t on t.run_id = later.id
     where t.account_id = $1 and t.capture_claimed_at is not null
     order by t.capture_runner_id, t.capture_claimed_at, t.seq
   ) first order by claimed_at, runner_id`,
);
