import { setTimeout as pause } from 'node:timers/promises';
import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { NodeEvents } from '../bus/node-events.js';
import type { AccountId } from '../db/account-id.js';
import { Database } from '../db/database.js';
import { KeyedDatabase } from '../db/keyed-database.js';
import type { PlatformCaller } from '../doors/caller.js';
import { refuseUntil } from '../errors/refusal.js';
import { recordAudit } from '../identity/audit.js';
import { lockRuns, type OldRun, pruneRuns, readOldRuns, type RunPlace } from './due-runs.sql.js';
import { emptyRuns } from './empty-runs.sql.js';
import { deleteDeclarations, lockUnusedDeclarations } from './forget-declarations.sql.js';

/** Runs, or declarations, of one transaction; chapter 7 allows 500. Fewer are a shorter burst for claims to wait behind. */
const BATCH = 100;
/** Tasks that are deleted in one statement: a few milliseconds of PostgreSQL's time. */
const TASKS = 250;
/** How long a prune rests after a batch, in multiples of what the batch took: calls have most of the machine. */
const REST = 2;

const BEFORE_EVERY_RUN: RunPlace = {
  created_at_text: '-infinity',
  id: '00000000-0000-0000-0000-000000000000',
};

/** What a prune did. */
export interface Pruned {
  readonly runs: number;
  readonly tasks: number;
  readonly declarations: number;
}

/**
 * Prunes an account's due runs (chapter 7, Retention). Invariant: a pruned run is refused, on every node, before the first of
 * its tasks is deleted, and keeps what the chapter says in the very statement that prunes it. Bounded transactions one after
 * the other, which any node may do beside any other; what one leaves the next finds.
 */
@Injectable()
export class Pruning implements BeforeApplicationShutdown {
  private readonly stop = new AbortController();

  constructor(
    private readonly database: Database,
    private readonly keyed: KeyedDatabase,
    private readonly events: NodeEvents,
  ) {}

  beforeApplicationShutdown(): void {
    this.stop.abort();
  }

  /** `{pruned}`, for the caller's account and into its audit. Throws `unavailable` when the node shuts down meanwhile. */
  async asked({ accountId, memberId: actorId }: PlatformCaller): Promise<object> {
    const pruned = await this.prune(accountId);
    await this.database.transaction((sql) =>
      recordAudit(sql, {
        accountId,
        actorId,
        action: 'retention.pruned',
        subjectId: accountId,
        detail: { ...pruned },
      }),
    );
    return { pruned };
  }

  /** Prunes until nothing is due. Throws `unavailable` once this node shuts down, or `signal` aborts. */
  async prune(accountId: AccountId, signal?: AbortSignal): Promise<Pruned> {
    const stopped = signal ? AbortSignal.any([signal, this.stop.signal]) : this.stop.signal;
    const runs = await this.pruneDue(accountId, stopped);
    const tasks = await this.deleteTasks(accountId, stopped);
    const declarations = await this.deleteDeclarations(accountId, stopped);
    return { runs, tasks, declarations };
  }

  private async pruneDue(accountId: AccountId, stopped: AbortSignal): Promise<number> {
    let pruned = 0;
    let place: RunPlace | undefined = BEFORE_EVERY_RUN;
    while (place) {
      const { created_at_text, id }: RunPlace = place;
      place = await inBatch(stopped, async (): Promise<RunPlace | undefined> => {
        const old: OldRun[] = await this.database.rows(readOldRuns, accountId, created_at_text, id, BATCH);
        const due = old.filter(({ is_due }) => is_due).map((run) => run.id);
        if (due.length > 0) pruned += await this.pruneRuns(accountId, due);
        return old.length === BATCH ? old.at(-1) : undefined;
      });
    }
    return pruned;
  }

  private async pruneRuns(accountId: AccountId, due: readonly string[]): Promise<number> {
    const pruned = await this.database.transaction(async (sql) => {
      const locked = await sql.rows(lockRuns, accountId, due);
      return sql.rows(
        pruneRuns,
        accountId,
        locked.map(({ id }) => id),
      );
    });
    // nodes hear events in order: whoever has heard the last one has heard them all
    const last = pruned.at(-1);
    for (const run of pruned) if (run !== last) this.events.publish('run', run);
    if (last) await this.events.announce('run', last);
    return pruned.length;
  }

  private async deleteTasks(accountId: AccountId, stopped: AbortSignal): Promise<number> {
    let deleted = 0;
    for (let isMore = true; isMore;) {
      const batch = await inBatch(stopped, () => this.keyed.row(emptyRuns, accountId, TASKS));
      deleted += batch?.tasks ?? 0;
      isMore = batch?.is_more ?? false;
    }
    return deleted;
  }

  private async deleteDeclarations(accountId: AccountId, stopped: AbortSignal): Promise<number> {
    let deleted = 0;
    for (let isMore = true; isMore;) {
      const { locked, gone } = await inBatch(stopped, () =>
        this.database.transaction(async (sql) => {
          const rows = await sql.rows(lockUnusedDeclarations, accountId, BATCH);
          const digests = rows.map(({ digest }) => digest);
          return { locked: rows.length, gone: await sql.rows(deleteDeclarations, accountId, digests) };
        }),
      );
      deleted += gone.length;
      isMore = locked === BATCH;
    }
    return deleted;
  }
}

/** One batch, and the rest after it. */
async function inBatch<T>(stopped: AbortSignal, work: () => Promise<T>): Promise<T> {
  if (stopped.aborted) throw refuseUntil('unavailable', 1, 'the prune was cut short; ask again to go on');
  const started = performance.now();
  const result = await work();
  await pause((performance.now() - started) * REST, undefined, { signal: stopped }).catch(() => undefined);
  return result;
}
