import { setTimeout as pause } from 'node:timers/promises';
import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { ENV, type Env } from '../config/env.js';
import { Database } from '../db/database.js';
import { newId } from '../db/ids.js';
import { Idempotency } from '../doors/idempotency.js';
import { AuditService } from '../identity/audit.service.js';
import { endLease, readAccounts, renewLease, takeNight } from './night.sql.js';
import { Pruning } from './pruning.service.js';

/** Between two looks whether the night's job is to be done. */
const PERIOD_MS = 60_000;
/** Between two renewals of the lease. */
const RENEWAL_MS = 30_000;

/**
 * Retention's nightly job (chapter 7): what is due is pruned in every account, old idempotency keys and audit entries are
 * deleted. Invariant: one node at a time does it, under a lease, and another goes on when that node is gone. Once a night.
 */
@Injectable()
export class Nightly implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly log = new Logger(Nightly.name);
  private readonly holder = newId();
  private readonly stop = new AbortController();
  private watching: Promise<void> | undefined;

  constructor(
    @Inject(ENV) private readonly env: Env,
    private readonly database: Database,
    private readonly pruning: Pruning,
    private readonly idempotency: Idempotency,
    private readonly audit: AuditService,
  ) {}

  onApplicationBootstrap(): void {
    this.watching = this.keepWatch();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stop.abort();
    await this.watching;
  }

  /** Does the night's job if it is to be done, and nobody else does it. Never throws: it is tried again. */
  async look(): Promise<void> {
    try {
      if (!(await this.database.row(takeNight, this.env.NEXUS_PRUNE_HOUR, this.holder))) return;
      const isDone = await this.work();
      await this.database.rows(endLease, this.holder, isDone);
    } catch (fault) {
      this.log.error(`the night's retention job failed and is tried again: ${(fault as Error).message}`);
    }
  }

  private async keepWatch(): Promise<void> {
    const { signal } = this.stop;
    while (!signal.aborted) {
      await this.look();
      await pause(PERIOD_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  /** The job, as long as the lease is held; whether it was done. */
  private async work(): Promise<boolean> {
    const lost = new AbortController();
    const signal = AbortSignal.any([lost.signal, this.stop.signal]);
    const renewal = setInterval(() => {
      this.database.row(renewLease, this.holder).then(
        (row) => row ?? lost.abort(),
        // a database that is away for long lets the lease end; the next batch fails by itself
        () => undefined,
      );
    }, RENEWAL_MS);
    try {
      const accounts = await this.database.rows(readAccounts);
      const parts = [
        ...accounts.map(
          ({ id }) =>
            () =>
              this.pruning.prune(id, signal),
        ),
        () => this.idempotency.forgetOld(),
        () => this.audit.forgetOld(),
      ];
      let isDone = true;
      // what fails leaves the others to be done, and the night to be tried again
      for (const part of parts) isDone = (await this.succeeds(part, signal)) && isDone;
      return isDone;
    } finally {
      clearInterval(renewal);
    }
  }

  private async succeeds(part: () => Promise<unknown>, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false;
    try {
      await part();
      return true;
    } catch (fault) {
      if (!signal.aborted) this.log.error(`a part of the night's job failed: ${(fault as Error).message}`);
      return false;
    }
  }
}
