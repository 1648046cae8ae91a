import type { AccountId } from '../db/account-id.js';
import type { Sql } from '../db/statement.js';

/** `runner_effects` as it is answered (chapter 7, Evidence). */
export interface RunnerEffects {
  readonly status: 'untouched' | 'touched' | 'unavailable';
  readonly runners: readonly object[];
  readonly reason?: 'execution_details_pruned';
}

/** What a run may have done to runners. The effects module provides it; a run shows it. */
export abstract class RunEffects {
  /** The projection of each of these runs, by id. */
  abstract ofRuns(
    sql: Sql,
    accountId: AccountId,
    runs: readonly { readonly id: string; readonly details_pruned_at: Date | null }[],
  ): Promise<ReadonlyMap<string, RunnerEffects>>;
}
