import { randomBytes } from 'node:crypto';
import { Call } from './call.js';
import type { DeliveredCall } from './delivered-call.js';
import type { ExecutorVerbs } from './executor-verbs.js';
import type { Log } from './log.js';
import type { Claimed } from './park.js';
import { RefusedError } from './refused-error.js';
import type { CallEndedError, ServedTool } from './tool.js';
import type { InboxPage, InboxRow, TaskName, WorkPush } from './wire.js';

/** How many tasks are remembered until a slot is free; beyond it the inbox is read again. */
const MOST_WAITING = 1_000;
/** How many claim tokens of delivered calls are remembered: one that comes again is not worked again. */
const MOST_TOKENS = 10_000;

/** The tools that are served, and their counts. */
interface Served {
  tool(name: string): ServedTool | undefined;
  count(tool: string, nanoseconds: number, error?: string): void;
}

/**
 * Works on what waits for this executor, at most `maxConcurrent` calls at a time. A push is claimed at once where a slot
 * is free; the inbox, which is complete, is read whole whenever a push may have been lost; what Nexus delivers is claimed
 * already, and comes first. Invariant: a task is known to one place only: waiting, delivered, or busy from its claim's first
 * try to its commit.
 */
export class WorkLoop {
  private readonly waiting = new Map<string, TaskName>();
  private readonly delivered = new Map<string, Delivered>();
  private readonly tokens = new Set<string>();
  /** The call is there once its claim was answered. */
  private readonly busy = new Map<string, Call | undefined>();
  private isOpen = false;
  /** Where the inbox is still to be read from, when more waits than is remembered. */
  private unread: { readonly after: Cursor } | undefined;
  private reading: Promise<void> | undefined;
  private readAgain = false;
  private stopped: { why: CallEndedError['why']; message: string } | undefined;
  private idle: (() => void)[] = [];

  constructor(
    private readonly verbs: ExecutorVerbs,
    private readonly served: Served,
    private readonly maxConcurrent: number,
    private readonly log: Log,
    /** Aborts when nothing may be repeated any longer. */
    private readonly insist: AbortSignal,
  ) {}

  /** From now on tasks are claimed. */
  open(): void {
    this.isOpen = true;
    this.fill();
  }

  /** Nothing more is claimed; what is claimed goes on. */
  shut(): void {
    this.isOpen = false;
    this.unread = undefined;
    this.waiting.clear();
  }

  get callsUnderWay(): number {
    return this.busy.size + this.delivered.size;
  }

  /** Takes a call that Nexus has claimed for this executor, whether the loop is open or not: it must be committed. */
  deliver(call: DeliveredCall): void {
    const { task, claimToken } = call.claimed;
    if (this.tokens.has(claimToken)) return;
    this.tokens.add(claimToken);
    const [oldest] = this.tokens;
    if (this.tokens.size > MOST_TOKENS && oldest !== undefined) this.tokens.delete(oldest);
    this.waiting.delete(keyOf(task));
    this.delivered.set(keyOf(task), { call, isCanceled: false });
    this.fill();
  }

  /** Takes a push. One that cannot be understood is ignored: pushes only bring a read forward. */
  heard(push: unknown): void {
    if (!isPush(push)) return;
    const { run_public_id, task_key } = push;
    if (push.event === 'work_canceled') {
      this.waiting.delete(keyOf(push));
      const delivered = this.delivered.get(keyOf(push));
      if (delivered) delivered.isCanceled = true;
      else this.busy.get(keyOf(push))?.end('canceled', CANCELED);
    } else if (push.kind === 'tool_call') {
      this.offer({ run_public_id, task_key }, null);
      this.fill();
    }
  }

  /** Reads the whole inbox, as far as there is room to remember it. A read asked for while one is under way follows it. */
  async read(): Promise<void> {
    if (this.reading) {
      this.readAgain = true;
      return this.reading;
    }
    this.reading = this.readOn().finally(() => (this.reading = undefined));
    await this.reading;
    if (!this.readAgain) return;
    this.readAgain = false;
    await this.read();
  }

  /** Resolves when no call is under way. */
  async whenIdle(): Promise<void> {
    if (this.callsUnderWay > 0) await new Promise<void>((resolve) => this.idle.push(resolve));
  }

  /** Tells every call to stop, those too whose claim is still to be answered. */
  stopCalls(why: CallEndedError['why'], message: string): void {
    this.stopped = { why, message };
    for (const call of this.busy.values()) call?.end(why, message);
  }

  /** Commits as failed what has not stopped by itself. */
  abandonCalls(message: string): void {
    for (const call of this.busy.values()) call?.abandon(message);
  }

  /** Reads on from where the last reading had to stop, else from the start. */
  private async readOn(): Promise<void> {
    const held = this.unread ? [] : [...this.busy].filter(([, call]) => call !== undefined);
    const listed = new Set<string>();
    let after = this.unread?.after ?? null;
    this.unread = undefined;
    try {
      do {
        if (!this.isOpen) return;
        const page = await this.verbs.repeated('inbox', () => this.verbs.inbox(after), this.insist);
        for (const row of page.tasks) {
          listed.add(keyOf(row));
          if (isClaimable(row)) this.offer(row, after);
        }
        this.fill();
        after = page.pagination.next_after;
      } while (after !== null && !this.unread);
    } catch (fault) {
      if (!this.insist.aborted) this.log('warn', `the inbox could not be read: ${(fault as Error).message}`);
      return;
    }
    if (this.unread) return;
    // Each was held before the reading began. Gone from a complete inbox, it was canceled or is settled.
    for (const [key, call] of held) if (!listed.has(key) && this.busy.get(key) === call) void call?.check();
  }

  /** Remembers a task, and where the inbox is to be read again from when there is no room for it. */
  private offer({ run_public_id, task_key }: TaskName, page: Cursor): void {
    const task = { run_public_id, task_key };
    const key = keyOf(task);
    if (!this.isOpen || this.busy.has(key) || this.delivered.has(key)) return;
    if (this.waiting.size < MOST_WAITING) this.waiting.set(key, task);
    else this.unread ??= { after: page };
  }

  private fill(): void {
    for (const [key, delivered] of this.delivered) {
      if (this.busy.size >= this.maxConcurrent) return;
      // while a claim by the verb is still to be refused
      if (this.busy.has(key)) continue;
      this.delivered.delete(key);
      this.busy.set(key, undefined);
      void this.carryOut(key, delivered);
    }
    for (const [key, task] of this.waiting) {
      if (!this.isOpen || this.busy.size >= this.maxConcurrent) return;
      this.waiting.delete(key);
      this.busy.set(key, undefined);
      void this.take(key, task);
    }
    if (this.isOpen && this.unread && this.busy.size < this.maxConcurrent) void this.read();
  }

  private async take(key: string, task: TaskName): Promise<void> {
    const claimed = await this.claim(task);
    if (claimed) await this.work(key, claimed);
    this.freed(key);
  }

  private async carryOut(key: string, { call, isCanceled }: Delivered): Promise<void> {
    await this.work(key, call.claimed, isCanceled);
    call.done();
    this.freed(key);
  }

  /** Resolves when the call is committed. */
  private async work(key: string, claimed: Claimed, isCanceled = false): Promise<void> {
    const { tool_name: name } = claimed.task;
    const call = new Call(claimed, this.served.tool(name), this.verbs, this.log, this.insist);
    this.busy.set(key, call);
    if (isCanceled) call.end('canceled', CANCELED);
    if (this.stopped) call.end(this.stopped.why, this.stopped.message);
    await call.run((nanoseconds, error) => this.served.count(name, nanoseconds, error));
  }

  private freed(key: string): void {
    this.busy.delete(key);
    this.fill();
    if (this.callsUnderWay === 0) for (const resolve of this.idle.splice(0)) resolve();
  }

  /** Claims with a token of our own, so that a repeat answers the same claim and a lost answer costs nothing. */
  private async claim(task: TaskName): Promise<Claimed | undefined> {
    const claimToken = randomBytes(24).toString('base64url');
    let firstAskedAt = 0;
    let lastAskedAt = 0;
    try {
      const ask = () => {
        lastAskedAt = performance.now();
        firstAskedAt ||= lastAskedAt;
        return this.verbs.claim(task, claimToken);
      };
      const answer = await this.verbs.repeated('claim', ask, this.insist);
      return { task: answer.task, claimToken, firstAskedAt, lastAskedAt };
    } catch (fault) {
      if (fault instanceof RefusedError)
        this.log('debug', `a task was not taken: ${fault.code}`, { ...task });
      else
        this.log(
          'error',
          'the runner closed before a claim was answered; if it was taken, it ends at its deadline',
          { ...task },
        );
      return undefined;
    }
  }
}

interface Delivered {
  readonly call: DeliveredCall;
  isCanceled: boolean;
}

const CANCELED = 'The call was canceled.';

type Cursor = InboxPage['pagination']['next_after'];

const keyOf = ({ run_public_id, task_key }: TaskName): string => `${run_public_id} ${task_key}`;

const isClaimable = (row: InboxRow): boolean => row.kind === 'tool_call' && !row.claimed;

function isPush(value: unknown): value is WorkPush {
  const push = value as Partial<WorkPush> | null;
  return (
    typeof push === 'object' &&
    typeof push?.run_public_id === 'string' &&
    typeof push.task_key === 'string' &&
    (push.event === 'work_available' || push.event === 'work_canceled')
  );
}
