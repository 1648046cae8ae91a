import { statement } from '../db/statement.js';
import { type TaskRow, taskColumns } from '../routing/task-row.js';
import { COMMIT_REFUSAL, type CommitRefusal } from './commit-refusal.sql.js';
import { absence, diagnosed, jobRows } from './jobs.sql.js';

/** Columns of the task are null where there is none. */
export type CommitDiagnosis = TaskRow & {
  readonly refusal: CommitRefusal | 'execution_details_pruned' | 'not_found' | null;
};

/**
 * Why a commit did not act, of a list of one job; no row where there is no such run. A null refusal says that the state
 * changed since: the commit is tried again. Off the hot path: refused, repeated and overtaken commits come here.
 */
export const diagnoseCommit = statement<[jobs: string], CommitDiagnosis>(
  'work_diagnose_commit',
  `select case ${absence('r', 't')} ${COMMIT_REFUSAL} end as refusal, ${taskColumns('t')}
   ${diagnosed(jobRows('only_late boolean'))}`,
);
