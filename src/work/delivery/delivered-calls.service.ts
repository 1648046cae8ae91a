import { setTimeout as pause } from 'node:timers/promises';
import { type BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { Msg } from 'nats';
import { NodeEvents } from '../../bus/node-events.js';
import { ToolRequests } from '../../bus/tool-requests.js';
import type { AccountId } from '../../db/account-id.js';
import { KeyedDatabase } from '../../db/keyed-database.js';
import type { Lane } from '../../db/lane.js';
import { Metrics } from '../../doors/metrics.js';
import type { EffectProfile } from '../../kernel/effect-profile.js';
import type { DeliveryClaim } from '../../routing/deliveries.js';
import { TaskEvents } from '../../routing/task-events.js';
import type { TaskRow } from '../../routing/task-row.js';
import { Commits } from '../commits.service.js';
import { jobLane } from '../job-lane.js';
import { jobsJson, nameOf } from '../task-claim.js';
import { releaseCalls, type ReleaseJob } from './release.sql.js';
import { readRemaining } from './remaining-time.sql.js';
import { type ResultBody, resultOfReply } from './reply-result.js';

/** A call that was sent, until its end is known. */
interface DeliveredCall {
  readonly job: ReleaseJob;
  /** A late reply may still bring the checkpoint of the capture that its claim wrote. */
  readonly leavesEvidence: boolean;
  /** When its time is over, by this machine's monotonic clock, in ms: looked up again then, since it may have been extended. */
  endsAt: number;
  /** By which its reply is waited for. */
  request: string | undefined;
  isUnheard: boolean;
}

type HearExecutor = (accountId: AccountId, executorId: string) => void;

/** A reply says by this header that its executor has committed by the verb: nothing is to be taken from it. */
const COMMITTED = 'Nexus-Committed';
/** Calls looked up in one statement. */
const LOOKED_UP = 200;
/** Settled calls whose late replies are still heard, and for how long: a reply is granted for an hour. */
const LATE = { max: 10_000, ttl: 3_600_000 };
const TRY_AGAIN_MS = 500;

/**
 * The calls that this node has delivered, and what becomes of them (chapter 8, Delivery): a reply is the result, and where
 * the server says that nobody listens the claim is released. Invariant: an end that could not be written is tried again while
 * the call's time lasts; what ends otherwise, by the verb or the sweep, on whatever node, is forgotten. Nothing is sent twice.
 */
@Injectable()
export class DeliveredCalls implements BeforeApplicationShutdown {
  private readonly log = new Logger(DeliveredCalls.name);
  private readonly calls = new Map<string, DeliveredCall>();
  private readonly late = new LRUCache<string, DeliveredCall>({
    ...LATE,
    dispose: ({ request }) => request !== undefined && this.requests.forget(request),
  });
  private readonly ends = new Set<Promise<void>>();
  private readonly releases: Lane<ReleaseJob, TaskRow | undefined>;
  private readonly stop = new AbortController();
  private unheard: HearExecutor = () => undefined;
  private freed: HearExecutor = () => undefined;

  constructor(
    private readonly database: KeyedDatabase,
    private readonly requests: ToolRequests,
    private readonly commits: Commits,
    private readonly events: TaskEvents,
    private readonly metrics: Metrics,
    nodes: NodeEvents,
  ) {
    this.releases = jobLane(database, releaseCalls);
    metrics.watch('nexus_calls_delivered', 'Delivered calls whose end is awaited here.', () => this.count);
    nodes.on('task', ({ run, key, settled }) => {
      if (settled) this.ended(`${run}/${key}`);
    });
  }

  /** Calls whose end is awaited. */
  get count(): number {
    return this.calls.size;
  }

  /** Calls `heard` with the executor of each call that nobody has heard, once its claim is released. */
  onUnheard(heard: HearExecutor): void {
    this.unheard = heard;
  }

  /** Calls `heard` with the executor of each call that has ended, which may now be delivered another. */
  onEnded(heard: HearExecutor): void {
    this.freed = heard;
  }

  /** Sends a call that was claimed with `claim`. Whether nobody listens is known one round trip to the server later. */
  send(
    row: TaskRow,
    { token, tokenSha256, epoch, askedAt }: DeliveryClaim,
  ): Pick<DeliveredCall, 'isUnheard'> {
    const accountId = row.account_id as AccountId;
    const executorId = row.claimed_by as string;
    const remainingMs = Math.max(1, Math.round(row.timeout_ms - (performance.now() - askedAt)));
    const call: DeliveredCall = {
      job: {
        account_id: accountId,
        executor_id: executorId,
        epoch,
        run_id: row.run_id,
        task_key: row.task_key,
        token_sha256: tokenSha256,
        generation: row.generation,
      },
      leavesEvidence: row.addressed_role === 'runner' && isWrite(row),
      endsAt: performance.now() + remainingMs,
      request: undefined,
      isUnheard: false,
    };
    this.metrics.claimed('claimed');
    this.metrics.observe('deliver', Math.max(0, Number(row.claimed_at) - Number(row.accepted_at)) / 1_000);
    this.calls.set(nameOf(call.job), call);
    const head = {
      'Nexus-Run': row.run_id,
      'Nexus-Task': row.task_key,
      'Nexus-Claim-Token': token,
      'Nexus-Timeout-Ms': String(remainingMs),
    };
    const request = { accountId, executorId, epoch, tool: row.tool_name, input: row.tool_input_text, head };
    call.request = this.requests.send(request, (reply) => this.hear(call, reply));
    if (call.request === undefined) this.hear(call, undefined);
    return call;
  }

  /** Forgets calls whose time is over, and waits on for those that were extended. */
  async lookUpOverdue(): Promise<void> {
    const now = performance.now();
    const overdue = [...this.calls.values()].filter(({ endsAt }) => endsAt <= now).slice(0, LOOKED_UP);
    if (overdue.length === 0) return;
    const left = new Map<number, number>();
    for (const { ordinal, remaining_ms } of await this.database.rows(
      readRemaining,
      jobsJson(overdue.map(({ job }) => job)),
    ))
      left.set(ordinal, remaining_ms);
    for (const [ordinal, call] of overdue.entries()) {
      const remainingMs = left.get(ordinal);
      if (remainingMs === undefined) this.ended(nameOf(call.job));
      else call.endsAt = performance.now() + remainingMs;
    }
  }

  /** Writes the ends that have come; the rest is left to the executors' own commits and to the sweep. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stop.abort();
    await Promise.allSettled(this.ends);
  }

  private hear(call: DeliveredCall, reply: Msg | undefined): void {
    const name = nameOf(call.job);
    const { request } = call;
    call.request = undefined;
    if (this.calls.get(name) === call) this.calls.delete(name);
    else if (request !== undefined) this.late.delete(request);
    if (!reply) {
      call.isUnheard = true;
      this.end(call, () => this.release(call));
    } else if (reply.headers?.has(COMMITTED)) {
      this.freed(call.job.account_id, call.job.executor_id);
    } else {
      const result = resultOfReply({ data: reply.data, header: (key) => reply.headers?.get(key) ?? '' });
      this.end(call, () => this.take(call, result));
    }
  }

  private async take({ job }: DeliveredCall, result: ResultBody): Promise<void> {
    await this.commits.take(job, result);
    this.freed(job.account_id, job.executor_id);
  }

  private async release({ job }: DeliveredCall): Promise<void> {
    const released = await this.releases.run(job);
    if (!released) return;
    this.events.changed(released);
    this.unheard(job.account_id, job.executor_id);
  }

  /** A claim ended otherwise. Of a write the reply is still heard. */
  private ended(name: string): void {
    const call = this.calls.get(name);
    if (!call) return;
    this.calls.delete(name);
    this.freed(call.job.account_id, call.job.executor_id);
    if (call.request === undefined) return;
    if (call.leavesEvidence) this.late.set(call.request, call);
    else this.requests.forget(call.request);
  }

  private end(call: DeliveredCall, write: () => Promise<void>): void {
    const end = this.insist(call, write).finally(() => this.ends.delete(end));
    this.ends.add(end);
  }

  /** Tries for as long as the call's time lasts: whoever sent the reply does not repeat it. Never throws. */
  private async insist({ endsAt }: DeliveredCall, write: () => Promise<void>): Promise<void> {
    const { signal } = this.stop;
    for (;;) {
      try {
        return await write();
      } catch (fault) {
        this.log.warn(`the end of a delivered call was not written: ${(fault as Error).message}`);
      }
      if (signal.aborted || performance.now() >= endsAt) return;
      await pause(TRY_AGAIN_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}

const isWrite = ({ effect_profile_text: text }: TaskRow): boolean =>
  (JSON.parse(text) as EffectProfile).kind === 'write';
