import type { AccountId } from '../db/account-id.js';
import { statement } from '../db/statement.js';
import { type TaskRow, taskColumns } from './task-row.js';

/** Which task is read; who may see its run was asked before. Member names are the columns of the recordset below. */
export interface TaskRead {
  readonly account_id: AccountId;
  readonly run_id: string;
  readonly task_key: string;
}

/**
 * Tasks of any runs, each by its primary key, with its place in the list of the parameter; no row for one that is not
 * there. Half the statements of a call over REST are this read: 64 that come together cost a tenth of 64 single ones.
 */
export const readTasks = statement<[tasks: string], TaskRow & { readonly ordinal: number }>(
  'tasks_read',
  `select task.*, asked.ordinal
   from json_to_recordset($1::json) as asked (ordinal integer, account_id uuid, run_id uuid, task_key text)
   cross join lateral (
     select ${taskColumns('t')} from tasks t
     where t.run_id = asked.run_id and t.task_key = asked.task_key and t.account_id = asked.account_id limit 1) task`,
);

/** Several tasks of a run, in order of acceptance. */
export const readTasksByKey = statement<
  [accountId: AccountId, runId: string, keys: readonly string[]],
  TaskRow
>(
  'tasks_read_by_key',
  `select ${taskColumns('t')} from tasks t
   where t.account_id = $1 and t.run_id = $2 and t.task_key = any ($3::text[]) order by t.seq`,
);

/** A page of tasks, cut where inputs and outputs reach 4 MiB; it has one row at least. */
const PAGE_BYTES = 4 * 1024 * 1024;

const weight = `octet_length(tool_input::text) + coalesce(octet_length(content::text), 0)
  + coalesce(octet_length(structured_content::text), 0) + coalesce(octet_length(metadata::text), 0)`;

/**
 * A run's tasks in order of acceptance, after the task of sequence `after`. `limit` counts one more than is shown:
 * `has_more` says whether anything stands behind a row.
 */
export const readTaskPage = statement<
  [accountId: AccountId, runId: string, after: string, limit: number],
  TaskRow & { readonly has_more: boolean }
>(
  'tasks_read_page',
  `with page as (
     select run_id, task_key, seq, ${weight} as bytes from tasks
     where account_id = $1 and run_id = $2 and seq > 0 and seq > $3::bigint order by seq limit $4
   ), measured as (
     select *, sum(bytes) over (order by seq) as bytes_so_far, row_number() over (order by seq) as place,
       lead(seq) over (order by seq) is not null as has_more
     from page
   )
   select ${taskColumns('t')}, measured.has_more
   from measured join tasks t on t.run_id = measured.run_id and t.task_key = measured.task_key
   where measured.place = 1 or (measured.bytes_so_far <= ${PAGE_BYTES} and measured.place < $4)
   order by t.seq`,
);

/** What tells two snapshots of a task apart, without its input and output. */
export type TaskState = Pick<
  TaskRow,
  'task_key' | 'generation' | 'status' | 'claimed_at' | 'deadline_at' | 'settled_at'
>;

/** The state of every task of a run, in order of acceptance. */
export const readTaskStates = statement<[accountId: AccountId, runId: string], TaskState>(
  'task_states_read',
  `select task_key, generation, status, claimed_at, deadline_at, settled_at
   from tasks where account_id = $1 and run_id = $2 order by seq`,
);
