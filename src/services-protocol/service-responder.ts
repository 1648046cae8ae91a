import type { Msg, NatsConnection, Subscription } from 'nats';
import { writeInfo } from './info-document.js';
import {
  ANSWER_TYPES,
  type EndpointDescription,
  type EndpointStats,
  type ServiceDescription,
} from './service-description.js';

const VERBS = ['PING', 'INFO', 'STATS'] as const;
type DiscoveryVerb = (typeof VERBS)[number];

/** What a NATS server takes unless it is told otherwise, in bytes. */
const DEFAULT_MAX_PAYLOAD = 1024 * 1024;

/**
 * Answers PING, INFO and STATS for one service instance, each instance for itself: discovery has no queue group.
 * Serving stays where it is; this only says what is served. It answers only under `_INBOX.`, since the asker
 * chooses the reply subject and the server does not check it (chapter 8). A subject that the server does not let it
 * hear is reported by the connection's status, and leaves the others as they are.
 */
export class ServiceResponder {
  private readonly started = new Date().toISOString();
  private readonly subscriptions: Subscription[] = [];
  private readonly ping: Buffer;
  private info: { readonly maxPayload: number; readonly bytes: Buffer } | undefined;

  /** `stats` are the counts of the endpoints, by name. */
  constructor(
    private description: ServiceDescription,
    private stats: ReadonlyMap<string, EndpointStats>,
  ) {
    this.ping = Buffer.from(JSON.stringify({ type: ANSWER_TYPES.PING, ...this.identity }));
  }

  /** Subscribes the nine subjects of the protocol: each verb bare, by name, and by name and id. */
  start(connection: NatsConnection): void {
    const { name, id } = this.description;
    for (const verb of VERBS) {
      for (const subject of [`$SRV.${verb}`, `$SRV.${verb}.${name}`, `$SRV.${verb}.${name}.${id}`]) {
        const callback = (fault: Error | null, message: Msg): void => {
          if (fault || !message.reply?.startsWith('_INBOX.')) return;
          message.respond(this.answer(verb, connection.info?.max_payload ?? DEFAULT_MAX_PAYLOAD));
        };
        this.subscriptions.push(connection.subscribe(subject, { callback }));
      }
    }
  }

  /** Another list of endpoints, from the next answer on. Who the instance is stays. */
  serves(endpoints: readonly EndpointDescription[], stats: ReadonlyMap<string, EndpointStats>): void {
    this.description = { ...this.description, endpoints };
    this.stats = stats;
    this.info = undefined;
  }

  stop(): void {
    for (const subscription of this.subscriptions.splice(0)) subscription.unsubscribe();
  }

  private get identity(): object {
    const { name, id, version, metadata } = this.description;
    return { name, id, version, metadata };
  }

  private answer(verb: DiscoveryVerb, maxPayload: number): Buffer {
    if (verb === 'PING') return this.ping;
    if (verb === 'STATS') return this.statsUnder(maxPayload);
    if (this.info?.maxPayload !== maxPayload)
      this.info = { maxPayload, bytes: writeInfo(this.description, maxPayload) };
    return this.info.bytes;
  }

  /** Counts change with every request: written anew each time, of as many endpoints as the server delivers. */
  private statsUnder(maxPayload: number): Buffer {
    const head = JSON.stringify({ type: ANSWER_TYPES.STATS, ...this.identity, started: this.started });
    const texts: string[] = [];
    let bytes = Buffer.byteLength(head) + ',"endpoints":[]'.length;
    for (const { name, subject, queue_group } of this.description.endpoints) {
      const text = JSON.stringify({ name, subject, queue_group, ...this.stats.get(name)?.toJSON() });
      bytes += Buffer.byteLength(text) + 1;
      if (bytes > maxPayload) break;
      texts.push(text);
    }
    return Buffer.from(`${head.slice(0, -1)},"endpoints":[${texts.join(',')}]}`);
  }
}
