import { Inject, Injectable } from '@nestjs/common';
import { ErrorCode, headers, type Msg, type NatsError } from 'nats';
import { ENV, type Env } from '../config/env.js';
import type { AccountId } from '../db/account-id.js';
import { newId } from '../db/ids.js';
import type { BusConnection } from './bus-connection.js';
import { BusConnections } from './bus-connections.js';
import { NODE_INBOX } from './grants/permissions.js';
import { Subjects } from './subjects.js';

/** Bytes that a request's headers have at most. */
const HEADER_BYTES = 512;
/** What every nats-server takes unless it was told otherwise, in bytes. */
const DEFAULT_PAYLOAD = 1024 * 1024;
/** How long the server is waited for, in ms. */
const ROUND_TRIP_MS = 250;

/** A call on its way to an executor's own subject (chapter 8, Delivery). */
export interface ToolRequest {
  readonly accountId: AccountId;
  readonly executorId: string;
  readonly epoch: number;
  readonly tool: string;
  /** JSON text, sent as it is. */
  readonly input: string;
  readonly head: Readonly<Record<string, string>>;
}

/** Told of the reply, once; of none where the server says that nobody listens. */
export type Hear = (reply: Msg | undefined) => void;

interface Waiting {
  readonly hear: Hear;
  /** The server may still say that nobody listens. */
  isUnsettled: boolean;
}

interface Batch {
  readonly accountId: AccountId;
  readonly requests: readonly Waiting[];
}

/** What the name of a mark begins with, and that of a request does not. */
const MARK = '-';

/**
 * Requests to executors' tool subjects, and their replies: one inbox for the node, whoever is asked, and no timers.
 *
 * Invariant: only the server says that nobody listens. It says so before it brings back the mark that this node sends itself
 * behind a request; the same status later is a reply like any other, or an executor could make a call it has seen look
 * undelivered. A mark, not a PING: messages are heard in the order in which they come, a PONG's promise is not.
 */
@Injectable()
export class ToolRequests {
  private readonly subjects: Subjects;
  private readonly inbox = `${NODE_INBOX}.${newId()}.`;
  private readonly waiting = new Map<string, Waiting>();
  /** Requests that the server may still say it of, by the mark that goes behind them: one for all of a turn. */
  private readonly unsettled = new Map<string, Batch>();
  private readonly gathering = new Map<AccountId, Waiting[]>();
  private readonly watching = new Set<AccountId>();
  private sent = 0;

  constructor(
    @Inject(ENV) env: Env,
    private readonly connections: BusConnections,
  ) {
    this.subjects = new Subjects(env.NEXUS_BUS_PREFIX);
    connections.onServing((connection) => {
      connection.subscribe(`${this.inbox}*`, {
        callback: (fault, reply) => {
          if (!fault) this.take(reply);
        },
      });
    });
  }

  /** Whether a request to the account's executors would leave just now. */
  isUp(accountId: AccountId): boolean {
    return this.connections.of(accountId).isUp;
  }

  /** Bytes of input that the account's server takes at most. */
  mostBytes(accountId: AccountId): number {
    const { current } = this.connections.of(accountId);
    return (current?.info?.max_payload ?? DEFAULT_PAYLOAD) - HEADER_BYTES;
  }

  /**
   * Sends, and tells `hear` of the reply. Answers the name by which it is no longer waited for; undefined where nothing has
   * left, and nothing will be heard.
   */
  send({ accountId, executorId, epoch, tool, input, head }: ToolRequest, hear: Hear): string | undefined {
    const name = (this.sent += 1).toString(36);
    const fields = headers();
    for (const [key, value] of Object.entries(head)) fields.append(key, value);
    const options = { reply: this.inbox + name, headers: fields };
    try {
      const subject = this.subjects.tool(executorId, epoch, tool);
      if (!this.connections.of(accountId).publish(subject, input, options)) return undefined;
    } catch (fault) {
      if ((fault as NatsError).code === (ErrorCode.MaxPayloadExceeded as string)) return undefined;
      throw fault;
    }
    const waiting = { hear, isUnsettled: true };
    this.waiting.set(name, waiting);
    this.markBehind(accountId, waiting);
    return name;
  }

  /** The reply is waited for no longer. */
  forget(name: string): void {
    this.waiting.delete(name);
  }

  /** Resolves when the server has said of every request sent so far that nobody listens, if so; after 250 ms at most. */
  roundTrip(accountId: AccountId): Promise<void> {
    return this.connections.of(accountId).flush(ROUND_TRIP_MS);
  }

  private markBehind(accountId: AccountId, waiting: Waiting): void {
    const others = this.gathering.get(accountId);
    if (others) return void others.push(waiting);
    const batch = [waiting];
    this.gathering.set(accountId, batch);
    queueMicrotask(() => {
      this.gathering.delete(accountId);
      const mark = MARK + (this.sent += 1).toString(36);
      const connection = this.watched(accountId);
      if (connection.publish(this.inbox + mark, '')) this.unsettled.set(mark, { accountId, requests: batch });
      else settle(batch);
    });
  }

  /** The connection; once it goes down, what the server had still to say is lost. */
  private watched(accountId: AccountId): BusConnection {
    const connection = this.connections.of(accountId);
    if (this.watching.has(accountId)) return connection;
    this.watching.add(accountId);
    connection.onChange((up) => {
      if (up) return;
      for (const [mark, batch] of this.unsettled) if (batch.accountId === accountId) this.settleAt(mark);
    });
    return connection;
  }

  private settleAt(mark: string): void {
    settle(this.unsettled.get(mark)?.requests ?? []);
    this.unsettled.delete(mark);
  }

  private take(reply: Msg): void {
    const name = reply.subject.slice(this.inbox.length);
    if (name.startsWith(MARK)) return this.settleAt(name);
    const waiting = this.waiting.get(name);
    if (!waiting) return;
    this.waiting.delete(name);
    waiting.hear(waiting.isUnsettled && isUnheard(reply) ? undefined : reply);
  }
}

function settle(requests: readonly Waiting[]): void {
  for (const request of requests) request.isUnsettled = false;
}

const isUnheard = ({ data, headers: head }: Msg): boolean => data.length === 0 && head?.code === 503;
