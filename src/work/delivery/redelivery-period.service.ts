import { setTimeout as pause } from 'node:timers/promises';
import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import pLimit from 'p-limit';
import { ENV, type Env } from '../../config/env.js';
import { KeyedDatabase } from '../../db/keyed-database.js';
import { DeliveredCalls } from './delivered-calls.service.js';
import { Redelivery } from './redelivery.service.js';
import { readWaitingExecutors } from './waiting-executors.sql.js';

/** How often executors with calls waiting are tried, give or take a fifth, in ms. */
const PERIOD_MS = 5_000;
/** Executors tried in one period, and at a time: a fleet that is away costs no more than this. */
const TRIED = 200;
const TRIED_AT_ONCE = 4;
const FIRST = '00000000-0000-0000-0000-000000000000';

/**
 * Tries every executor that serves and has calls waiting, every 5 s on each node (chapter 8, Delivery); where there are more
 * than it tries in one period, in turn. Invariant: as long as one node lives no waiting call is forgotten. Nobody is delivered
 * to on a bus that Nexus does not manage.
 */
@Injectable()
export class RedeliveryPeriod implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly log = new Logger(RedeliveryPeriod.name);
  private readonly stop = new AbortController();
  private readonly limit = pLimit(TRIED_AT_ONCE);
  private trying: Promise<void> | undefined;
  private after = FIRST;
  private isFailing = false;

  constructor(
    @Inject(ENV) private readonly env: Env,
    private readonly database: KeyedDatabase,
    private readonly delivered: DeliveredCalls,
    private readonly redelivery: Redelivery,
  ) {}

  onApplicationBootstrap(): void {
    if (this.env.NEXUS_BUS_AUTH === 'managed') this.trying = this.keepTrying();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stop.abort();
    await this.trying;
  }

  private async keepTrying(): Promise<void> {
    const { signal } = this.stop;
    while (!signal.aborted) {
      await this.tryAll();
      const jittered = PERIOD_MS * (0.8 + 0.4 * Math.random());
      await pause(jittered, undefined, { signal }).catch(() => undefined);
    }
  }

  /** The next executors with calls waiting. Never throws. */
  private async tryAll(): Promise<void> {
    try {
      await this.delivered.lookUpOverdue();
      const found = await this.database.rows(readWaitingExecutors, this.after, TRIED);
      this.after = found.length === TRIED ? (found.at(-1)?.executor ?? FIRST) : FIRST;
      this.isFailing = false;
      const retry = ({ account, executor }: (typeof found)[number]): Promise<void> =>
        this.limit(() => this.redelivery.retry(account, executor));
      await Promise.all(found.map(retry));
    } catch (fault) {
      if (!this.isFailing)
        this.log.error(`redelivery failed and goes on trying: ${(fault as Error).message}`);
      this.isFailing = true;
    }
  }
}
