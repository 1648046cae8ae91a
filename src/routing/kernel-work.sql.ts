import { statement } from '../db/statement.js';
import { type TaskRow, taskColumns } from './task-row.js';

/**
 * Settles a call that the kernel has run: only while it waits, in the generation that was run, before its deadline. Of two
 * nodes that ran it the second changes no row.
 */
export const settleKernelCall = statement<
  [
    runId: string,
    key: string,
    generation: number,
    content: string | null,
    structuredContent: string | null,
    fault: string | null,
  ],
  TaskRow
>(
  'kernel_settle',
  `with moved as (
     update tasks t set status = case when $6::text is null then 'completed' else 'failed' end,
       settled_at = clock_timestamp(), content = $4::json, structured_content = $5::json,
       is_error = case when $6::text is null then false end,
       error_key = case when $6::text is not null then 'tool_failed' end, error_detail = $6
     where t.run_id = $1 and t.task_key = $2 and t.generation = $3 and case
       when t.status <> 'dispatched' or t.addressed_role <> 'kernel' then false
       else t.deadline_at > clock_timestamp() end
     returning t.*
   )
   select ${taskColumns('moved')} from moved`,
);

/** Calls that the kernel should have run `seconds` ago, as a lost node leaves them; the oldest first. */
export const readLeftKernelCalls = statement<[seconds: number, limit: number], TaskRow>(
  'kernel_read_left',
  `select ${taskColumns('t')} from tasks t
   where t.status = 'dispatched' and t.addressed_role = 'kernel'
     and t.started_at < now() - $1 * interval '1 second'
   order by t.started_at limit $2`,
);
