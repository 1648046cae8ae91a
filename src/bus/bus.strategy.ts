import { Injectable, Inject } from '@nestjs/common';
import { type CustomTransportStrategy, type MessageHandler, Server } from '@nestjs/microservices';
import { headers, type Msg, type NatsConnection, type Subscription } from 'nats';
import { lastValueFrom } from 'rxjs';
import { ENV, type Env } from '../config/env.js';
import type { AccountId } from '../db/account-id.js';
import { writeJson } from '../db/json-text.js';
import { Answer } from '../doors/answer.js';
import { BUS_TRANSPORT } from '../doors/verb.decorator.js';
import { busVerbOf, type VerbDeclaration } from '../doors/verb.js';
import { refusalOf } from '../doors/refusal-of.js';
import type { Refusal } from '../errors/refusal.js';
import { BusConnections } from './bus-connections.js';
import { BusRequest } from './bus-request.js';
import { EndpointStats } from '../services-protocol/service-description.js';
import { ServiceResponder } from '../services-protocol/service-responder.js';
import { NODE_QUEUE } from './grants/permissions.js';
import { announceVerbs, type ServedVerb } from './node-services.js';
import { Subjects } from './subjects.js';

/**
 * The NATS door: a Nest transport that serves every verb with a bus plane on its own subject, and answers the
 * services protocol for them. A message whose answer may not go where it asks is dropped, before anything is executed.
 */
@Injectable()
export class BusStrategy extends Server implements CustomTransportStrategy {
  override readonly transportId = BUS_TRANSPORT;
  private readonly subjects: Subjects;
  private readonly subscriptions: Subscription[] = [];
  private readonly responders: ServiceResponder[] = [];
  private readonly inFlight = new Set<Promise<void>>();
  private dropped = 0;

  constructor(
    @Inject(ENV) env: Env,
    private readonly connections: BusConnections,
  ) {
    super();
    this.subjects = new Subjects(env.NEXUS_BUS_PREFIX);
  }

  /** Requests dropped because their reply subject was not the speaker's own inbox. */
  get droppedRequests(): number {
    return this.dropped;
  }

  get requestsInFlight(): number {
    return this.inFlight.size;
  }

  /** Two handlers of one verb would answer by chance: refused at the start. */
  override addHandler(
    pattern: unknown,
    callback: MessageHandler,
    isEventHandler?: boolean,
    extras?: Record<string, unknown>,
  ): void {
    if (this.messageHandlers.has(this.normalizePattern(pattern as string))) {
      throw new Error(`Two handlers serve the bus verb ${String(pattern)}`);
    }
    super.addHandler(pattern, callback, isEventHandler, extras);
  }

  /** Serves as soon as the bus is reached; a node starts without it. */
  listen(started: (fault?: unknown) => void): void {
    this.connections.onServing((connection, accountId) => this.serve(connection, accountId));
    started();
  }

  /** Stops hearing, then waits for the requests under way. */
  async close(): Promise<void> {
    for (const responder of this.responders.splice(0)) responder.stop();
    await Promise.allSettled(this.subscriptions.splice(0).map((subscription) => subscription.drain()));
    await Promise.allSettled(this.inFlight);
    await this.connections.close();
  }

  on(): never {
    throw new Error('The bus strategy has no client events; listen to BusConnections');
  }

  unwrap<T>(): T {
    return this.connections as T;
  }

  /** What an account asks over its own connection is counted for itself: nothing crosses accounts. */
  private serve(connection: NatsConnection, accountId: AccountId | undefined): void {
    const served: ServedVerb[] = [];
    for (const handler of this.messageHandlers.values()) {
      const { verb } = handler.extras as { verb: VerbDeclaration & { bus: 'executor' | 'member' } };
      const subject =
        verb.bus === 'executor'
          ? this.subjects.executorVerb(busVerbOf(verb))
          : this.subjects.memberVerb(busVerbOf(verb));
      const stats = new EndpointStats();
      served.push({ verb, subject, queue: NODE_QUEUE, stats });
      const callback = (fault: Error | null, message: Msg): void => {
        if (!fault) this.take(handler, message, accountId, stats);
      };
      this.subscriptions.push(connection.subscribe(subject, { queue: NODE_QUEUE, callback }));
    }
    for (const { description, stats } of announceVerbs(served)) {
      const responder = new ServiceResponder(description, stats);
      responder.start(connection);
      this.responders.push(responder);
    }
  }

  private take(
    handler: MessageHandler,
    message: Msg,
    accountId: AccountId | undefined,
    stats: EndpointStats,
  ): void {
    const speaker = this.subjects.speaker(message.subject);
    if (!speaker || !message.reply?.startsWith(`${speaker.inbox}.`)) {
      this.dropped += 1;
      return;
    }
    const started = process.hrtime.bigint();
    const work = this.answer(handler, new BusRequest(message, speaker, accountId), message).then((error) => {
      stats.count(Number(process.hrtime.bigint() - started), error);
      this.inFlight.delete(work);
    });
    this.inFlight.add(work);
  }

  /** Answers one request; resolves with the code it was refused with, if it was. */
  private async answer(
    handler: MessageHandler,
    request: BusRequest,
    message: Msg,
  ): Promise<string | undefined> {
    try {
      request.read();
      const result: unknown = await lastValueFrom(
        this.transformToObservable(await handler(request.body.value, request)),
        {
          defaultValue: undefined,
        },
      );
      message.respond(writeJson(result instanceof Answer ? result.body : (result ?? {})));
      return undefined;
    } catch (fault) {
      const { refusal } = refusalOf(fault, request.id);
      respondRefusal(message, refusal);
      return refusal.code;
    }
  }
}

function respondRefusal(message: Msg, refusal: Refusal): void {
  const head = headers();
  head.set('Nats-Service-Error', refusal.code);
  head.set('Nats-Service-Error-Code', String(refusal.status));
  if (refusal.retryAfterSeconds !== undefined) head.set('Retry-After', String(refusal.retryAfterSeconds));
  message.respond(JSON.stringify(refusal.envelope), { headers: head });
}
