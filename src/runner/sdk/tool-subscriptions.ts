import type { Msg, Subscription } from 'nats';
import { EndpointStats } from '../../services-protocol/service-description.js';
import type { BusLink } from './bus-link.js';
import { type DeliveredCall, readDeliveredCall } from './delivered-call.js';
import type { Log } from './log.js';

/** The protocol's default: of several servers of one tool each call reaches one. */
const QUEUE = 'q';

/** A tool as it is served on the bus: what INFO and STATS say of it (chapter 8). */
export interface ServedEndpoint {
  readonly tool: string;
  readonly subject: string;
  readonly queue_group: string;
  readonly stats: EndpointStats;
}

interface Served extends ServedEndpoint {
  readonly subscription: Subscription;
}

/**
 * The subjects on which calls are delivered to this process, one for each tool. Invariant: what is announced is served, from
 * before Nexus hears of it until it has heard that it is gone.
 */
export class ToolSubscriptions {
  private readonly served = new Map<string, Served>();

  constructor(
    private readonly link: BusLink,
    private readonly deliver: (call: DeliveredCall) => void,
    private readonly log: Log,
  ) {}

  /** What is served just now. */
  get endpoints(): readonly ServedEndpoint[] {
    return [...this.served.values()];
  }

  /** Serves these too. Resolves when the server knows. */
  async add(tools: readonly string[]): Promise<void> {
    for (const tool of tools) if (!this.served.has(tool)) this.served.set(tool, this.serve(tool));
    await this.link.flush();
  }

  /** Serves nothing but these. Resolves when what had arrived for the others was taken. */
  async keep(tools: readonly string[]): Promise<void> {
    const gone = [...this.served.values()].filter(({ tool }) => !tools.includes(tool));
    for (const { tool } of gone) this.served.delete(tool);
    await Promise.all(gone.map(({ subscription }) => subscription.drain().catch(() => undefined)));
  }

  private serve(tool: string): Served {
    const stats = new EndpointStats();
    const hear = (message: Msg): void => {
      const startedAt = process.hrtime.bigint();
      const ended = (error?: string): void => stats.count(Number(process.hrtime.bigint() - startedAt), error);
      const call = readDeliveredCall(message, tool, ended);
      if (call) this.deliver(call);
      else this.log('warn', 'a message that is no call was dropped', { subject: message.subject });
    };
    // the link says which subject was denied: the other tools go on
    const denied = (): boolean => this.served.delete(tool);
    const subscription = this.link.onTool(tool, QUEUE, hear, denied);
    return { tool, subject: this.link.toolSubject(tool), queue_group: QUEUE, stats, subscription };
  }
}
