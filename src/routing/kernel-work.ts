import { setTimeout as pause } from 'node:timers/promises';
import {
  type BeforeApplicationShutdown,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import pLimit from 'p-limit';
import type { AccountId } from '../db/account-id.js';
import { KeyedDatabase } from '../db/keyed-database.js';
import { Metrics } from '../doors/metrics.js';
import { Refusal } from '../errors/refusal.js';
import { KERNEL_TOOLS } from '../kernel/catalogue.js';
import { isRunLater, type KernelResult } from './kernel-calls.js';
import { readLeftKernelCalls, settleKernelCall } from './kernel-work.sql.js';
import { TaskEvents } from './task-events.js';
import type { TaskRow } from './task-row.js';

/** The run's principal: a kernel tool shows what that member may see, whoever called it. */
export interface KernelCaller {
  readonly accountId: AccountId;
  readonly memberId: string;
}

type KernelTool = (caller: KernelCaller, input: Readonly<Record<string, unknown>>) => Promise<KernelResult>;

/** Kernel tools that a node runs at a time. */
const AT_A_TIME = 8;
/** How often a node looks for calls that another one left, how old those are, and how many it takes at once. */
const LOOK_MS = 5_000;
const LEFT_SECONDS = 10;
const TAKEN = 32;
/** A result's bound, as for a commit (chapter 6). */
const RESULT_LIMIT_BYTES = 768 * 1024;
/** How long a node that stops waits for what it runs. */
const GRACE_MS = 3_000;

/**
 * Runs the kernel's own tools that look beyond their run, once their calls are accepted. They only read, so a call may be
 * run twice, when its node was lost; it is settled once. One that nobody could run settles at its deadline.
 */
@Injectable()
export class KernelWork implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly log = new Logger(KernelWork.name);
  private readonly tools = new Map<string, KernelTool>();
  private readonly running = new Map<string, Promise<void>>();
  private readonly admitted = pLimit(AT_A_TIME);
  private looking: NodeJS.Timeout | undefined;

  constructor(
    private readonly database: KeyedDatabase,
    private readonly events: TaskEvents,
    private readonly metrics: Metrics,
  ) {}

  /** Serves the tool of this wire name. Called while the node is built. */
  serve(name: string, tool: KernelTool): void {
    this.tools.set(name, tool);
  }

  /** A tool of the catalogue that nothing runs would leave every call to its deadline: refused at the start. */
  onApplicationBootstrap(): void {
    const missing = KERNEL_TOOLS.find((tool) => isRunLater(tool) && !this.tools.has(tool.name));
    if (missing) throw new Error(`The kernel catalogue has ${missing.name}, which nothing runs`);
    this.looking = setInterval(() => void this.takeLeft(), LOOK_MS).unref();
  }

  async beforeApplicationShutdown(): Promise<void> {
    clearInterval(this.looking);
    const all = Promise.allSettled([...this.running.values()]);
    await Promise.race([all, pause(GRACE_MS, undefined, { ref: false })]);
  }

  /** Runs those of the accepted calls that are the kernel's. Nothing is waited for. */
  take(rows: readonly TaskRow[]): void {
    for (const row of rows) {
      if (row.status !== 'dispatched' || row.addressed_role !== 'kernel') continue;
      const name = `${row.run_id}/${row.task_key}/${row.generation}`;
      if (this.running.has(name)) continue;
      const work = this.admitted(() => this.run(row))
        .catch((fault: Error) => this.log.warn(`a kernel call was not settled: ${fault.message}`))
        .finally(() => this.running.delete(name));
      this.running.set(name, work);
    }
  }

  private async takeLeft(): Promise<void> {
    try {
      this.take(await this.database.rows(readLeftKernelCalls, LEFT_SECONDS, TAKEN));
    } catch (fault) {
      this.log.warn(`kernel calls were not looked for: ${(fault as Error).message}`);
    }
  }

  private async run(row: TaskRow): Promise<void> {
    const { run_id, task_key, generation } = row;
    const result = await this.resultOf(row);
    const [content, structured, fault] =
      'fault' in result
        ? [null, null, result.fault]
        : [result.contentText, result.structuredContentText, null];
    const settled = await this.database.row(
      settleKernelCall,
      run_id,
      task_key,
      generation,
      content,
      structured,
      fault,
    );
    if (!settled) return;
    this.metrics.settled(settled.status);
    this.events.changed(settled);
  }

  private async resultOf({ tool_name, tool_input_text, ...row }: TaskRow): Promise<KernelResult> {
    const tool = this.tools.get(tool_name);
    if (!tool) return { fault: `the kernel does not run ${tool_name}` };
    const caller = { accountId: row.account_id as AccountId, memberId: row.principal_id };
    try {
      return bounded(await tool(caller, JSON.parse(tool_input_text) as Record<string, unknown>));
    } catch (fault) {
      if (fault instanceof Refusal) return { fault: `${fault.code}: ${fault.message}` };
      throw fault;
    }
  }
}

function bounded(result: KernelResult): KernelResult {
  if ('fault' in result) return result;
  const bytes = Buffer.byteLength(result.contentText) + Buffer.byteLength(result.structuredContentText);
  if (bytes <= RESULT_LIMIT_BYTES) return result;
  return {
    fault: `the answer is ${bytes} bytes; at most ${RESULT_LIMIT_BYTES} are allowed: ask for less`,
  };
}
