import { setTimeout as pause } from 'node:timers/promises';
import {
  type BeforeApplicationShutdown,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import pLimit from 'p-limit';
import { AnnouncementDirectory } from '../../announcement/announcement-directory.js';
import { NodeEvents } from '../../bus/node-events.js';
import { ToolRequests } from '../../bus/tool-requests.js';
import type { AccountId } from '../../db/account-id.js';
import { KeyedDatabase } from '../../db/keyed-database.js';
import { Presence } from '../../identity/presence.js';
import { TaskEvents } from '../../routing/task-events.js';
import { SettledTasks } from '../settled-tasks.js';
import { DeliveredCalls } from './delivered-calls.service.js';
import { type DeliveredRow, deliverWaiting } from './deliver-waiting.sql.js';
import { newClaim } from './delivery-claim.js';
import { readWaitingExecutors } from './waiting-executors.sql.js';

/** How often every executor with calls waiting is tried, give or take a fifth, in ms. */
const PERIOD_MS = 5_000;
/** Executors tried in one period, and at a time. */
const TRIED = 200;
const TRIED_AT_ONCE = 4;
/** Calls claimed in one statement; one where nobody listened the last time. */
const BATCH = 32;
/** After a first call nobody heard: whoever subscribed meanwhile is found without waiting for the period. */
const AGAIN_AFTER_MS = 250;
/**
 * After a verb of an executor that did not listen: its own verb comes first, and between two tries it may claim by the verb,
 * which a call on its way would be kept from.
 */
const AFTER_VERB_MS = 50;
const BETWEEN_TRIES_MS = 1_000;
const FIRST = '00000000-0000-0000-0000-000000000000';

/** An executor that calls wait for. */
interface Waited {
  readonly accountId: AccountId;
  readonly executorId: string;
  /** Its last call found nobody: one is sent ahead of the others. */
  isUnheard: boolean;
  /** The other nodes know. */
  isTold: boolean;
  triedAt: number;
  timer: NodeJS.Timeout | undefined;
  /** What is under way, and whether something has changed since it began. */
  running: Promise<void> | undefined;
  again: boolean;
}

/**
 * Delivers calls that could not be delivered when they were accepted (chapter 8, Delivery): on the executor's next announcement
 * or any verb of it, when it was seen on the bus, when one of its calls ends, and every 5 s. Invariant: a node knows of every
 * executor that it left calls waiting for, and tells the others, so that whoever sees a place become free fills it; the
 * period finds what a lost event or a lost node has left.
 */
@Injectable()
export class Redelivery implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly log = new Logger(Redelivery.name);
  private readonly waited = new Map<string, Waited>();
  private readonly stop = new AbortController();
  private readonly limit = pLimit(TRIED_AT_ONCE);
  private trying: Promise<void> | undefined;
  private after = FIRST;
  private isFailing = false;

  constructor(
    private readonly database: KeyedDatabase,
    private readonly requests: ToolRequests,
    private readonly delivered: DeliveredCalls,
    private readonly announcements: AnnouncementDirectory,
    private readonly nodes: NodeEvents,
    private readonly events: TaskEvents,
    private readonly settled: SettledTasks,
    presence: Presence,
  ) {
    delivered.onUnheard((accountId, executorId) => this.unheard(accountId, executorId));
    delivered.onEnded((accountId, executorId) => this.freed(accountId, executorId));
    presence.onHeard((executorId) => this.seen(executorId));
    nodes.on('executor', ({ id }, isRemote) => {
      if (!isRemote) this.look(id);
    });
    nodes.on('undelivered', ({ account, executor, unheard }, isRemote) => {
      if (!isRemote) return;
      const isKnown = this.waited.has(executor);
      const waited = this.entry(account, executor);
      waited.isTold = true;
      if (!unheard) void this.run(waited);
      else if (!isKnown) waited.isUnheard = true;
    });
  }

  onApplicationBootstrap(): void {
    this.trying = this.keepTrying();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stop.abort();
    for (const { timer } of this.waited.values()) clearTimeout(timer);
    await this.trying;
    for (const { running } of [...this.waited.values()]) await running;
  }

  /** Whether calls wait for the executor, as far as this node knows: a later one would overtake them. */
  isWaitedFor(executorId: string): boolean {
    return this.waited.has(executorId);
  }

  /** Calls wait for the executor. A node that stops leaves them to the others. */
  wake(accountId: AccountId, executorId: string): void {
    const waited = this.entry(accountId, executorId);
    if (this.stop.signal.aborted) this.tell(waited);
    else void this.run(waited);
  }

  /** The executor was seen, by a verb or on the bus: where calls found nobody they are delivered again. */
  seen(executorId: string): void {
    const waited = this.waited.get(executorId);
    if (!waited?.isUnheard) return;
    this.runIn(waited, Math.max(AFTER_VERB_MS, waited.triedAt + BETWEEN_TRIES_MS - performance.now()));
  }

  /** The executor may have announced: what it serves now is what counts. */
  private look(executorId: string): void {
    this.announcements.get(executorId).then(
      (announcement) => {
        if (announcement?.delivery === 'serve') this.wake(announcement.accountId, executorId);
      },
      (fault: Error) => this.log.warn(`an announcement was not read: ${fault.message}`),
    );
  }

  private unheard(accountId: AccountId, executorId: string): void {
    const isKnown = this.waited.has(executorId);
    const waited = this.entry(accountId, executorId);
    waited.isUnheard = true;
    waited.triedAt = performance.now();
    this.tell(waited);
    if (!isKnown) this.runIn(waited, AGAIN_AFTER_MS);
  }

  private freed(accountId: AccountId, executorId: string): void {
    if (this.waited.has(executorId)) this.wake(accountId, executorId);
  }

  private entry(accountId: AccountId, executorId: string): Waited {
    const known = this.waited.get(executorId);
    if (known) return known;
    const waited: Waited = {
      accountId,
      executorId,
      isUnheard: false,
      isTold: false,
      triedAt: 0,
      timer: undefined,
      running: undefined,
      again: false,
    };
    this.waited.set(executorId, waited);
    return waited;
  }

  private tell(waited: Waited): void {
    if (waited.isTold) return;
    waited.isTold = true;
    const { accountId: account, executorId: executor, isUnheard: unheard } = waited;
    this.nodes.publish('undelivered', { account, executor, unheard });
  }

  private runIn(waited: Waited, ms: number): void {
    if (this.stop.signal.aborted) return;
    waited.timer ??= setTimeout(() => {
      waited.timer = undefined;
      if (this.waited.get(waited.executorId) === waited) void this.run(waited);
    }, ms).unref();
  }

  /** One run for an executor at a time; what happens meanwhile makes it run once more. */
  private run(waited: Waited): Promise<void> {
    if (waited.running) waited.again = true;
    waited.running ??= this.deliverAll(waited).finally(() => (waited.running = undefined));
    return waited.running;
  }

  private async deliverAll(waited: Waited): Promise<void> {
    try {
      let isMore: boolean;
      do {
        waited.again = false;
        isMore = await this.deliver(waited);
      } while (waited.again && !this.stop.signal.aborted);
      if (isMore) return this.tell(waited);
      clearTimeout(waited.timer);
      this.waited.delete(waited.executorId);
    } catch (fault) {
      this.log.warn(`waiting calls were not delivered: ${(fault as Error).message}`);
    }
  }

  /** Delivers until there is no place, nothing waits or nobody listens; whether calls still wait. */
  private async deliver(waited: Waited): Promise<boolean> {
    const { accountId, executorId } = waited;
    while (!this.stop.signal.aborted && this.requests.isUp(accountId)) {
      const claims = Array.from({ length: waited.isUnheard ? 1 : BATCH }, newClaim);
      const tokens = JSON.stringify(claims.map(({ tokenSha256 }) => tokenSha256));
      const mostBytes = this.requests.mostBytes(accountId);
      waited.triedAt = performance.now();
      const rows = await this.database.rows(deliverWaiting, accountId, executorId, tokens, mostBytes);
      const sent = rows.flatMap((row) => this.send(row, claims) ?? []);
      if (sent.length === 0) return rows[0]?.is_more ?? false;
      await this.requests.roundTrip(accountId);
      waited.isUnheard = sent.some(({ isUnheard }) => isUnheard);
      if (waited.isUnheard) return true;
      if (!rows[0]?.is_more) return false;
    }
    return true;
  }

  private send(
    row: DeliveredRow,
    claims: readonly ReturnType<typeof newClaim>[],
  ): { readonly isUnheard: boolean } | undefined {
    if (row.run_id === null) return undefined;
    const claim = row.place === null ? undefined : claims[row.place - 1];
    if (!claim) return void this.settled.announce([row]);
    this.events.changed(row);
    return this.delivered.send(row, { ...claim, epoch: row.claim_epoch });
  }

  private async keepTrying(): Promise<void> {
    const { signal } = this.stop;
    while (!signal.aborted) {
      await this.tryAll();
      const jittered = PERIOD_MS * (0.8 + 0.4 * Math.random());
      await pause(jittered, undefined, { signal }).catch(() => undefined);
    }
  }

  /** The next executors with calls waiting, all of them in turn. Never throws. */
  private async tryAll(): Promise<void> {
    try {
      await this.delivered.lookUpOverdue();
      const found = await this.database.rows(readWaitingExecutors, this.after, TRIED);
      this.after = found.length === TRIED ? (found.at(-1)?.executor ?? FIRST) : FIRST;
      this.isFailing = false;
      await Promise.all(
        found.map(({ account, executor }) => this.limit(() => this.run(this.entry(account, executor)))),
      );
    } catch (fault) {
      if (!this.isFailing)
        this.log.error(`redelivery failed and goes on trying: ${(fault as Error).message}`);
      this.isFailing = true;
    }
  }
}
