import {
  connect,
  type ConnectionOptions,
  Events,
  headers,
  type Msg,
  type MsgHdrs,
  type NatsConnection,
  NatsError,
  type Subscription,
} from 'nats';
import { authenticatorOf, readCreds } from '../../nkeys/creds.js';
import type { ServiceResponder } from '../../services-protocol/service-responder.js';
import { backoffMs, reconnectMs } from './backoff.js';
import type { Log } from './log.js';
import { pause } from './pause.js';
import { RefusedCredentials } from './refused-credentials.js';
import { RefusedError, UnreachableError } from './refused-error.js';
import type { Registration } from './registration.js';

/** How long one request waits for its answer before it counts as lost, in ms. */
const ANSWER_WITHIN_MS = 10_000;

/**
 * One executor's connection to Nexus over NATS. It comes back by itself, for ever; while it is down a request fails at
 * once, and a request that was under way when it went down counts as lost. Whoever needs an answer repeats.
 */
export class BusLink {
  private up = true;
  private closing = false;
  private readonly pending = new Set<(lost: UnreachableError) => void>();
  private readonly waiting = new Set<() => void>();
  private readonly reconnectListeners: (() => void)[] = [];
  /** The proof of each message where the bus does not prove who speaks. */
  private readonly authorization: MsgHdrs | undefined;

  private constructor(
    private readonly connection: NatsConnection,
    private readonly registration: Registration,
    private readonly refused: RefusedCredentials,
    private readonly log: Log,
  ) {
    if (registration.bus.credentials === null) {
      this.authorization = headers();
      this.authorization.set('Authorization', `Bearer ${registration.secret}`);
    }
    void this.watch();
  }

  /**
   * Connects, trying until `signal` aborts; failures are logged. Throws the signal's reason, or `RefusedError` where NATS
   * goes on refusing the credentials. Once connected it tries for ever: slowly, where they are refused.
   */
  static async open(
    registration: Registration,
    servers: readonly string[],
    log: Log,
    signal: AbortSignal,
  ): Promise<BusLink> {
    let downSince = 0;
    const refused = new RefusedCredentials(log);
    const options: ConnectionOptions = {
      servers: [...servers],
      name: `nexus runner ${registration.executor.public_id}`,
      inboxPrefix: registration.bus.subjects.inbox_prefix,
      maxReconnectAttempts: -1,
      ignoreAuthErrorAbort: true,
      noAsyncTraces: true,
      pingInterval: 10_000,
      reconnectDelayHandler: () => {
        downSince ||= performance.now();
        return refused.pauseMs ?? reconnectMs(performance.now() - downSince);
      },
    };
    const { credentials } = registration.bus;
    if (credentials !== null) options.authenticator = authenticatorOf(readCreds(credentials));
    for (let attempt = 0; ; attempt += 1) {
      try {
        const connection = await connect(options);
        if (signal.aborted) {
          await connection.close();
          throw signal.reason;
        }
        downSince = 0;
        const link = new BusLink(connection, registration, refused, log);
        link.onReconnect(() => (downSince = 0));
        return link;
      } catch (fault) {
        if (signal.aborted) throw signal.reason;
        if (refused.heard((fault as Partial<NatsError>).code) && refused.isFinal) {
          throw new RefusedError('unauthorized', 401, 'NATS refuses the credentials of this registration');
        }
        const level = attempt % 10 === 0 ? 'warn' : 'debug';
        log(level, `NATS is not reachable yet: ${(fault as Error).message}; trying again`, { servers });
        await pause(backoffMs(attempt), signal);
      }
    }
  }

  /**
   * One request to `<executor prefix>.<verb>`. Throws `RefusedError` where Nexus refused it, `UnreachableError` where
   * no answer came.
   */
  ask<Answer>(verb: string, body: object): Promise<Answer> {
    return this.askBytes(verb, encoder.encode(JSON.stringify(body)));
  }

  /** The same, of a body that is written once and sent repeatedly. */
  askBytes<Answer>(verb: string, body: Uint8Array): Promise<Answer> {
    if (!this.up) return Promise.reject(new UnreachableError('the connection to NATS is down'));
    const subject = `${this.registration.bus.subjects.executor}.${verb}`;
    return new Promise((answered, failed) => {
      this.pending.add(failed);
      this.connection
        .request(subject, body, {
          timeout: ANSWER_WITHIN_MS,
          ...(this.authorization ? { headers: this.authorization } : {}),
        })
        .then((message) => answered(read<Answer>(message)))
        .catch((fault: unknown) => failed(asFault(fault, subject)))
        .finally(() => this.pending.delete(failed));
    });
  }

  /** Hears every push for this executor, until the link is closed. A message that is not JSON is dropped and said. */
  onPush(heard: (push: unknown) => void): void {
    this.connection.subscribe(this.registration.bus.subjects.work, {
      callback: (fault, message) => {
        if (fault)
          return this.log('error', `pushes cannot be heard: ${fault.message}`, { subject: message?.subject });
        try {
          heard(message.json());
        } catch (broken) {
          this.log('warn', 'a push could not be read', { fault: (broken as Error).message });
        }
      },
    });
  }

  /** Hears what is sent to one of this executor's tools, in the queue group of the tool's other servers. */
  onTool(tool: string, queue: string, heard: (message: Msg) => void, denied: () => void): Subscription {
    return this.connection.subscribe(this.toolSubject(tool), {
      queue,
      callback: (fault, message) => (fault ? denied() : heard(message)),
    });
  }

  /** Lets a service of this process be discovered. */
  answer(responder: ServiceResponder): void {
    responder.start(this.connection);
  }

  toolSubject(tool: string): string {
    return `${this.registration.bus.subjects.tool}.${tool}`;
  }

  /** Resolves when the server knows what was subscribed so far; at once when the connection is down, which tells it anyway. */
  async flush(): Promise<void> {
    if (this.up) await this.connection.flush().catch(() => undefined);
  }

  /** Calls `heard` each time the connection has come back. */
  onReconnect(heard: () => void): void {
    this.reconnectListeners.push(heard);
  }

  /** Resolves after `ms`, or as soon as the connection has come back. Throws the signal's reason when it aborts. */
  pause(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason as Error);
      const end = (settle: () => void): void => {
        clearTimeout(timer);
        this.waiting.delete(wake);
        signal.removeEventListener('abort', stopped);
        settle();
      };
      const wake = (): void => end(resolve);
      const stopped = (): void => end(() => reject(signal.reason as Error));
      const timer = setTimeout(wake, ms);
      this.waiting.add(wake);
      signal.addEventListener('abort', stopped, { once: true });
    });
  }

  /** Counts every request under way as lost. */
  giveUp(why: string): void {
    for (const lost of this.pending) lost(new UnreachableError(why));
    this.pending.clear();
  }

  /** Resolves once the connection is closed for good; with a fault where nobody asked for it. */
  async closed(): Promise<Error | undefined> {
    const fault = await this.connection.closed();
    if (this.closing) return undefined;
    return fault instanceof Error ? fault : new Error('the connection to NATS was closed');
  }

  async close(): Promise<void> {
    this.closing = true;
    await this.connection.close();
  }

  private async watch(): Promise<void> {
    for await (const status of this.connection.status()) {
      if (status.type === Events.Disconnect) this.goneDown();
      else if (status.type === Events.Reconnect) this.comeUp();
      else if (status.type === Events.Error && !this.refused.heard(status.data)) {
        const { permissionContext: denied } = status;
        const what = denied
          ? `NATS does not let this executor ${denied.operation} ${denied.subject}`
          : 'NATS reports a fault';
        this.log('error', what, { fault: status.data });
      }
    }
    this.goneDown();
  }

  private goneDown(): void {
    if (this.up && !this.closing) this.log('warn', 'the connection to NATS is lost; reconnecting');
    this.up = false;
    this.giveUp('the connection to NATS was lost');
  }

  private comeUp(): void {
    this.up = true;
    this.refused.taken();
    this.log('info', 'the connection to NATS is back');
    for (const heard of this.reconnectListeners) heard();
    for (const wake of this.waiting) wake();
  }
}

const encoder = new TextEncoder();

function read<Answer>(message: Msg): Answer {
  const code = message.headers?.get('Nats-Service-Error');
  if (!code) return message.json();
  const { error } = envelope(message);
  const retryAfter = Number(message.headers?.get('Retry-After'));
  throw new RefusedError(
    error?.code ?? code,
    Number(message.headers?.get('Nats-Service-Error-Code')) || 500,
    error?.message ?? code,
    error?.details,
    retryAfter > 0 ? retryAfter * 1_000 : undefined,
  );
}

function envelope(message: Msg): { error?: { code?: string; message?: string; details?: unknown } } {
  try {
    return message.json();
  } catch {
    return {};
  }
}

function asFault(fault: unknown, subject: string): Error {
  if (fault instanceof RefusedError) return fault;
  if (fault instanceof NatsError) {
    if (fault.code === '503') return new UnreachableError('no Nexus node is listening');
    if (fault.code === 'TIMEOUT')
      return new UnreachableError(`no answer within ${ANSWER_WITHIN_MS / 1_000} s`);
    if (fault.code === 'MAX_PAYLOAD_EXCEEDED') {
      return new RefusedError('content_too_large', 413, 'the message is larger than NATS takes');
    }
    if (fault.code === 'PERMISSIONS_VIOLATION') {
      return new RefusedError('permissions_violation', 403, `NATS does not let this executor use ${subject}`);
    }
  }
  return new UnreachableError(fault instanceof Error ? fault.message : String(fault));
}
