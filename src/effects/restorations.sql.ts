import type { AccountId } from '../db/account-id.js';
import { statement } from '../db/statement.js';
import type { TaskStatus } from '../kernel/task-status.js';

/** Characters of a result's words that a target shows as the detail of its error. */
const DETAIL_CHARACTERS = 1_024;

/** What a restoration asks of one runner: a call, by its task's key, or why there is none. */
export interface RestorationTarget {
  readonly runner_id: string;
  readonly task_key: string | null;
  readonly error_key: string | null;
}

/** A restoration beside one of its targets, as the target's task stands; one row without a target where it has none. */
export interface RestorationRow {
  readonly id: string;
  readonly from_run_id: string;
  readonly run_id: string;
  readonly is_pruned: boolean;
  readonly runner_id: string | null;
  readonly task_key: string | null;
  readonly status: TaskStatus | null;
  readonly is_error: boolean | null;
  /** The task's, or why there is no task. */
  readonly error_key: string | null;
  readonly error_detail: string | null;
}

type RecordParams = [
  accountId: AccountId,
  id: string,
  conversationId: string,
  fromRunId: string,
  runId: string,
  targets: string,
];

/** Records a restoration whose run and tasks are there. `targets` is the JSON text of a list of `RestorationTarget`. */
export const recordRestoration = statement<RecordParams, never>(
  'restoration_record',
  `with made as (
     insert into restorations (id, account_id, conversation_id, from_run_id, run_id) values ($2, $1, $3, $4, $5)
     returning id
   )
   insert into restoration_targets (restoration_id, ordinal, runner_id, task_key, error_key)
   select made.id, target.ordinal, runner_id, task_key, error_key
   from made cross join rows from (
     json_to_recordset($6::json) as (runner_id uuid, task_key text, error_key text)
   ) with ordinality as target (runner_id, task_key, error_key, ordinal)`,
);

/** One restoration of a conversation, a row for each target in order. The words of a failed call are its error's detail. */
export const readRestoration = statement<
  [accountId: AccountId, conversationId: string, id: string],
  RestorationRow
>(
  'restoration_read',
  `select s.id, s.from_run_id, s.run_id, r.details_pruned_at is not null as is_pruned, target.runner_id, target.task_key,
     t.status, t.is_error, coalesce(target.error_key, t.error_key) as error_key,
     coalesce(t.error_detail, case when json_typeof(t.content) = 'string' and (t.status <> 'completed' or t.is_error)
       then left(t.content #>> '{}', ${DETAIL_CHARACTERS}) end) as error_detail
   from restorations s
   join runs r on r.id = s.run_id
   left join restoration_targets target on target.restoration_id = s.id
   left join tasks t on t.run_id = s.run_id and t.task_key = target.task_key
   where s.account_id = $1 and s.conversation_id = $2 and s.id = $3
   order by target.ordinal`,
);
