import type { Msg, NatsConnection, Subscription } from 'nats';
import type { EndpointStats, ServiceDescription } from './service-description.js';

const VERBS = ['PING', 'INFO', 'STATS'] as const;
type DiscoveryVerb = (typeof VERBS)[number];

/**
 * Answers PING, INFO and STATS for one service instance, each instance for itself: discovery has no queue group.
 * Serving stays where it is; this only says what is served. It answers only under `_INBOX.`, since the asker
 * chooses the reply subject and the server does not check it (chapter 8).
 */
export class ServiceResponder {
  private readonly started = new Date().toISOString();
  private readonly subscriptions: Subscription[] = [];

  constructor(
    private readonly description: ServiceDescription,
    private readonly stats: ReadonlyMap<string, EndpointStats>,
  ) {}

  /** Subscribes the nine subjects of the protocol: each verb bare, by name, and by name and id. */
  start(connection: NatsConnection): void {
    const { name, id } = this.description;
    for (const verb of VERBS) {
      for (const subject of [`$SRV.${verb}`, `$SRV.${verb}.${name}`, `$SRV.${verb}.${name}.${id}`]) {
        const callback = (fault: Error | null, message: Msg): void => {
          if (!fault && message.reply?.startsWith('_INBOX.'))
            message.respond(JSON.stringify(this.answer(verb)));
        };
        this.subscriptions.push(connection.subscribe(subject, { callback }));
      }
    }
  }

  stop(): void {
    for (const subscription of this.subscriptions.splice(0)) subscription.unsubscribe();
  }

  private answer(verb: DiscoveryVerb): object {
    const { name, id, version, metadata, description, endpoints } = this.description;
    const identity = { name, id, version, metadata };
    if (verb === 'PING') return { type: 'io.nats.micro.v1.ping_response', ...identity };
    if (verb === 'INFO')
      return { type: 'io.nats.micro.v1.info_response', ...identity, description, endpoints };
    return {
      type: 'io.nats.micro.v1.stats_response',
      ...identity,
      started: this.started,
      endpoints: endpoints.map((endpoint) => ({
        name: endpoint.name,
        subject: endpoint.subject,
        queue_group: endpoint.queue_group,
        ...this.stats.get(endpoint.name)?.toJSON(),
      })),
    };
  }
}
