import { setTimeout as pause } from 'node:timers/promises';
import {
  type BeforeApplicationShutdown,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { KeyedDatabase } from '../db/keyed-database.js';
import { Metrics } from '../doors/metrics.js';
import { SettledTasks } from './settled-tasks.js';
import { sweepDue } from './sweep.sql.js';

/** Tasks settled in one statement. */
const BATCH = 200;
/** Between two looks; a due task must be settled within 2 s. */
const PERIOD_MS = 500;

/**
 * Settles what is due (chapter 6, Expiry), on every node: as long as one lives no deadline is forgotten. Invariant: two
 * nodes never settle one task twice. A lost database is waited for.
 */
@Injectable()
export class Sweep implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly log = new Logger(Sweep.name);
  private readonly stop = new AbortController();
  private sweeping: Promise<void> | undefined;
  private isFailing = false;

  constructor(
    private readonly database: KeyedDatabase,
    private readonly settled: SettledTasks,
    private readonly metrics: Metrics,
  ) {}

  onApplicationBootstrap(): void {
    this.sweeping = this.keepSweeping();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stop.abort();
    await this.sweeping;
  }

  private async keepSweeping(): Promise<void> {
    const { signal } = this.stop;
    while (!signal.aborted) {
      if (await this.isMoreDue()) continue;
      await pause(PERIOD_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Settles one batch; whether there may be more. Never throws. */
  async isMoreDue(): Promise<boolean> {
    try {
      const rows = await this.database.rows(sweepDue, BATCH);
      this.isFailing = false;
      this.settled.announce(rows);
      const lags = rows.map(({ settled_at, deadline_at }) => Number(settled_at) - Number(deadline_at));
      this.metrics.sweepLag(Math.max(0, ...lags) / 1_000);
      return rows.length === BATCH;
    } catch (fault) {
      if (!this.isFailing) this.log.error(`the sweep failed and goes on trying: ${(fault as Error).message}`);
      this.isFailing = true;
      return false;
    }
  }
}
