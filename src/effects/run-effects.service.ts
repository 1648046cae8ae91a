import { Injectable } from '@nestjs/common';
import type { AccountId } from '../db/account-id.js';
import type { Sql } from '../db/statement.js';
import { RunEffects, type RunnerEffects } from '../routing/run-effects.js';
import { type FirstWriteRow, readFirstWritesOfRuns } from './first-writes.sql.js';
import { projectEffects } from './runner-effects.js';

/** Projects the captures of runs. Owns nothing: claims write captures, commits add checkpoints. */
@Injectable()
export class CapturedRunEffects extends RunEffects {
  async ofRuns(
    sql: Sql,
    accountId: AccountId,
    runs: readonly { readonly id: string; readonly details_pruned_at: Date | null }[],
  ): Promise<ReadonlyMap<string, RunnerEffects>> {
    const byRun = new Map<string, FirstWriteRow[]>(runs.map(({ id }) => [id, []]));
    for (const row of await sql.rows(readFirstWritesOfRuns, accountId, [...byRun.keys()])) {
      byRun.get(row.of)?.push(row);
    }
    return new Map(
      runs.map(({ id, details_pruned_at }) => [
        id,
        projectEffects(byRun.get(id) ?? [], details_pruned_at !== null),
      ]),
    );
  }
}
