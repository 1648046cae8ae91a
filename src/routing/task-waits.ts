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
 * between; an event only makes it read again, and a row that is settled on this node is handed over. A node that shuts
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
    events.on('task', ({ run, key }) => {
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

  /** The task as `read` answers it: at once when it is final, else when it becomes so or `waitMs` have passed. */
  async untilFinal(run: string, key: string, waitMs: number, read: () => Promise<TaskRow>): Promise<TaskRow> {
    if (waitMs <= 0) return read();
    const answer = this.wait(run, key, waitMs, read);
    this.answers.add(answer);
    try {
      return await answer;
    } finally {
      this.answers.delete(answer);
    }
  }

  /** Gives a final row to this node's waiters, who then need not read it. */
  hand(row: TaskRow): void {
    for (const waiter of this.waiting.get(nameOf(row.run_id, row.task_key)) ?? []) waiter.hand(row);
  }

  private async wait(
    run: string,
    key: string,
    waitMs: number,
    read: () => Promise<TaskRow>,
  ): Promise<TaskRow> {
    const ends = performance.now() + waitMs;
    const waiter = this.register(nameOf(run, key));
    try {
      for (;;) {
        waiter.arm();
        const row = waiter.handed ?? (await read());
        const left = ends - performance.now();
        if (isFinal(row.status) || left <= 0 || this.isStopping) return row;
        await waiter.woken(Math.min(left, this.events.isReliable ? SAFETY_MS : UNRELIABLE_MS));
      }
    } finally {
      this.release(nameOf(run, key), waiter);
    }
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

/** One waiter. A wake-up that comes between `arm` and `woken` is kept. */
class Waiter {
  handed: TaskRow | undefined;
  private isWoken = false;
  private resume: (() => void) | undefined;

  arm(): void {
    this.isWoken = false;
  }

  wake(): void {
    this.isWoken = true;
    this.resume?.();
  }

  hand(row: TaskRow): void {
    this.handed = row;
    this.wake();
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
