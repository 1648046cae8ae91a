/**
 * SQL: the jobs of parameter 1, the text of a JSON list, as rows `job`. `more` declares what a verb brings beside. `of_run`
 * is the run once more, to join runs by: joined by `run_id`, the planner could go from a run to all of its tasks.
 */
export const jobRows = (more = ''): string => `
  select *, run_id as of_run from json_to_recordset($1::json) as job (
    ordinal integer, account_id uuid, executor_id uuid, epoch integer, run_id uuid, task_key text,
    token_sha256 text${more === '' ? '' : `, ${more}`})`;

/**
 * SQL: a task by its primary key and nothing else, as every statement here finds it. Conditions that a partial index could
 * answer are put into a `case`, which no index can: on an empty or outdated table the planner would take it.
 */
export const isTaskOf = (t: string, job: string): string =>
  `(${t}.run_id = ${job}.run_id and ${t}.task_key = ${job}.task_key and ${t}.account_id = ${job}.account_id)`;

/** SQL: this very executor holds the claim of this generation by this token; null where nobody does. */
export const holdsClaim = (t: string, job: string): string =>
  `(${t}.claimed_by = ${job}.executor_id and ${t}.claim_token_sha256 = decode(${job}.token_sha256, 'hex'))`;

/** SQL: for a diagnosing read, where a run and its task may be missing: the cases that come before all others. */
export const absence = (r: string, t: string): string => `
  when ${r}.details_pruned_at is not null then 'execution_details_pruned'
  when ${t}.run_id is null then 'not_found'`;

/** SQL: what a diagnosing read looks at: `job`, its run `r`, its task `t` if there is one, the executor `e`. */
export const diagnosed = (jobs: string): string => `
  from (${jobs}) job
  join runs r on r.id = job.run_id and r.account_id = job.account_id
  join executors e on e.id = job.executor_id and e.account_id = job.account_id
  left join tasks t on ${isTaskOf('t', 'job')}`;
