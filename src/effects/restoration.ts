import { isFinal } from '../kernel/task-status.js';
import type { RestorationRow } from './restorations.sql.js';

type TargetStatus = 'running' | 'restored' | 'failed' | 'unavailable';

interface TargetJson {
  readonly runner_executor_public_id: string | null;
  readonly status: TargetStatus;
  readonly task_key: string | undefined;
  readonly error: { readonly key: string; readonly detail: string | undefined } | undefined;
}

/** What a target that was called may turn out to be: the runner went, or serves the tool no longer. */
const GONE: ReadonlySet<string | null> = new Set(['executor_revoked', 'tool_not_served']);

/**
 * A restoration on the wire (chapter 7, Restore): each target as its task stands now, and the whole by its targets. Without
 * any target there was nothing to restore, and nothing is left to do. `rows` has one row at least.
 */
export function restorationJson(rows: readonly [RestorationRow, ...RestorationRow[]]): object {
  const [{ id, from_run_id, run_id }] = rows;
  const targets = rows.flatMap((row) => (row.runner_id === null ? [] : [targetJson(row)]));
  return {
    restoration: {
      public_id: id,
      from_run_public_id: from_run_id,
      run_public_id: run_id,
      status: wholeStatus(targets.map(({ status }) => status)),
      targets,
    },
  };
}

function wholeStatus(statuses: readonly TargetStatus[]): 'running' | 'restored' | 'partial' | 'failed' {
  if (statuses.includes('running')) return 'running';
  if (statuses.every((status) => status === 'restored')) return 'restored';
  return statuses.includes('restored') ? 'partial' : 'failed';
}

function targetJson(row: RestorationRow): TargetJson {
  const status = targetStatus(row);
  const isTold = status === 'failed' || status === 'unavailable';
  return {
    runner_executor_public_id: row.runner_id,
    status,
    task_key: row.task_key ?? undefined,
    error: isTold ? { key: errorKey(row), detail: row.error_detail ?? undefined } : undefined,
  };
}

function targetStatus({ status, is_error, error_key }: RestorationRow): TargetStatus {
  if (status === null) return 'unavailable';
  if (!isFinal(status)) return 'running';
  if (status === 'completed') return is_error === true ? 'failed' : 'restored';
  return status === 'failed' && GONE.has(error_key) ? 'unavailable' : 'failed';
}

/** A tool that ran and reports an error failed as well; a canceled task has no error but that. */
function errorKey({ error_key, status }: RestorationRow): string {
  return error_key ?? (status === 'canceled' ? 'canceled' : 'tool_failed');
}
