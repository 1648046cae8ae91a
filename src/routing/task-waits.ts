import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { NodeEvents } from '../bus/node-events.js';
import { Metrics } from '../doors/metrics.js';
import { isFinal } from '../kernel/task-status.js';
import type { TaskRow } from './task-row.js';

/** How often a waiter looks for itself while events may be lost. */
const UNRELIABLE_MS = 250;
/** How often it looks all the same. */
const SAFETY_MS = 5_000;
/** How long a shutdown waits for its waiters to be answered, before their connections are cut. */
const GRACE_MS = 2_000;

/**
 * Who waits until a task is settled (chapter 5, long poll). A waiter registers before it reads, so that no change falls
 * between; an event of another node makes it read again, and a row that this node moved is handed over. A node that shuts
 * down lets all of them go with what they have.
 */
@Injectable()
export class TaskWaits implements BeforeApplicationShutdown {
  private readonly waiting = new Map<string, Set<Waiter>>();
  private readonly answers = new Set<Promise<TaskRow>>();
  private isStopping = false;

  constructor(
    private readonly events: NodeEvents,
    metrics: Metrics,
  ) {
    metrics.watch('nexus_task_waiters', 'Requests that wait until a task is settled.', () => this.count);
    events.on('task', ({ run, key }, isRemote) => {
      if (!isRemote) return;
      for (const waiter of this.waiting.get(nameOf(run, key)) ?? []) waiter.wake();
    });
    events.onGap(() => this.wakeAll());
  }

  /** Resolves when the waiters have been answered: the doors cut their connections next. */
  async beforeApplicationShutdown(): Promise<void> {
    this.isStopping = true;
    this.wakeAll();
    await Promise.race([Promise.allSettled(this.answers), pause(GRACE_MS, undefined, { ref: false })]);
    await nextTurn();
  }

  /** Requests that wait just now. */
  get count(): number {
    return this.answers.size;
  }

  /**
   * The task as `read` answers it: at once when it is final, else when it becomes so or `waitMs` have passed. `known` is
   * the task as the caller has just written it, which then is not read first.
   */
  async untilFinal(
    run: string,
    key: string,
    waitMs: number,
    read: () => Promise<TaskRow>,
    known?: TaskRow,
  ): Promise<TaskRow> {
    if (waitMs <= 0) return known ?? read();
    const answer = this.wait(run, key, waitMs, read, known);
    this.answers.add(answer);
    try {
      return await answer;
    } finally {
      this.answers.delete(answer);
    }
  }

  /** Gives a row as this node has just written it to its waiters, who then need not read it. */
  hand(row: TaskRow): void {
    for (const waiter of this.waiting.get(nameOf(row.run_id, row.task_key)) ?? []) waiter.hand(row);
  }

  private async wait(
    run: string,
    key: string,
    waitMs: number,
    read: () => Promise<TaskRow>,
    known: TaskRow | undefined,
  ): Promise<TaskRow> {
    const ends = performance.now() + waitMs;
    const waiter = this.register(nameOf(run, key));
    if (known) waiter.hand(known);
    try {
      for (;;) {
        const row = waiter.take() ?? (await read());
        const left = ends - performance.now();
        if (isFinal(row.status) || left <= 0 || this.isStopping) return row;
        await waiter.woken(Math.min(left, this.lookAfterMs(known !== undefined)));
        known = undefined;
      }
    } finally {
      this.release(nameOf(run, key), waiter);
    }
  }

  /** Before a known task was waited for, another node may have moved it: that is looked after soon, once. */
  private lookAfterMs(wasKnown: boolean): number {
    return wasKnown || !this.events.isReliable ? UNRELIABLE_MS : SAFETY_MS;
  }

  private register(name: string): Waiter {
    const waiter = new Waiter();
    const others = this.waiting.get(name);
    if (others) others.add(waiter);
    else this.waiting.set(name, new Set([waiter]));
    return waiter;
  }

  private release(name: string, waiter: Waiter): void {
    const others = this.waiting.get(name);
    others?.delete(waiter);
    if (others?.size === 0) this.waiting.delete(name);
  }

  private wakeAll(): void {
    for (const waiters of this.waiting.values()) for (const waiter of waiters) waiter.wake();
  }
}

/** One waiter. What comes between `take` and `woken` is kept; a wake-up outweighs a row handed over before it. */
class Waiter {
  private handed: TaskRow | undefined;
  private isWoken = false;
  private resume: (() => void) | undefined;

  /** The row handed over, if nothing says that it must be read. */
  take(): TaskRow | undefined {
    const { handed } = this;
    this.handed = undefined;
    this.isWoken = false;
    return handed;
  }

  wake(): void {
    this.handed = undefined;
    this.isWoken = true;
    this.resume?.();
  }

  hand(row: TaskRow): void {
    if (!this.isWoken || this.handed) this.handed = row;
    this.isWoken = true;
    this.resume?.();
  }

  /** Resolves at the next wake-up, or after `ms`. */
  async woken(ms: number): Promise<void> {
    if (this.isWoken) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.resume = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.resume = undefined;
  }
}

const nameOf = (run: string, key: string): string => `${run}/${key}`;
