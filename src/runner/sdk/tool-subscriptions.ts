import { headers, type Msg, type Subscription } from 'nats';
import { ENDPOINT_QUEUE, EndpointStats } from '../../services-protocol/service-description.js';
import type { BusLink } from './bus-link.js';
import { type DeliveredCall, readDeliveredCall } from './delivered-call.js';
import type { Log } from './log.js';

/** What Nexus takes as a tool's name: with some others a subscription would end the connection. */
const SERVED_NAME = /^[A-Za-z0-9_-]{1,128}$/;

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
 * The subjects of this process's tools, one for each. Invariant: what is announced is heard, from before Nexus hears of it
 * until it has heard that it is gone; so a call that was on its way when the delivery changed is worked, too.
 */
export class ToolSubscriptions {
  private readonly served = new Map<string, Served>();

  /** Without `deliver` nobody is trusted to send calls: whoever asks is told so. */
  constructor(
    private readonly link: BusLink,
    private readonly deliver: ((call: DeliveredCall) => void) | undefined,
    private readonly log: Log,
  ) {}

  /** What is served just now. */
  get endpoints(): readonly ServedEndpoint[] {
    return [...this.served.values()];
  }

  /** Serves these too. Resolves when the server knows. */
  async add(tools: readonly string[]): Promise<void> {
    for (const tool of tools)
      if (!this.served.has(tool) && SERVED_NAME.test(tool)) this.served.set(tool, this.serve(tool));
    await this.link.flush();
  }

  /** Serves nothing but these. Resolves when what had arrived for the others was taken. */
  async keep(tools: readonly string[]): Promise<void> {
    const kept = new Set(tools);
    const gone = [...this.served.values()].filter(({ tool }) => !kept.has(tool));
    for (const { tool } of gone) this.served.delete(tool);
    await Promise.all(gone.map(({ subscription }) => subscription.drain().catch(() => undefined)));
  }

  /** Counts a call, however it came. */
  count(tool: string, nanoseconds: number, error?: string): void {
    this.served.get(tool)?.stats.count(nanoseconds, error);
  }

  private serve(tool: string): Served {
    const stats = new EndpointStats();
    const hear = (message: Msg): void => {
      const call = this.deliver && readDeliveredCall(message, tool);
      if (call) return this.deliver?.(call);
      this.log('warn', 'a message that is no call was refused', { subject: message.subject });
      refuse(message);
      stats.count(0, NO_CALL);
    };
    // the link says which subject was denied: the other tools go on
    const denied = (): boolean => this.served.delete(tool);
    const subscription = this.link.onTool(tool, ENDPOINT_QUEUE, hear, denied);
    return { tool, subject: this.link.toolSubject(tool), queue_group: ENDPOINT_QUEUE, stats, subscription };
  }
}

const NO_CALL = 'only Nexus sends calls';

function refuse(message: Msg): void {
  // the asker chooses where the answer goes, and the server does not check it (chapter 8)
  if (!message.reply?.startsWith('_INBOX.')) return;
  const head = headers();
  head.set('Nats-Service-Error', NO_CALL);
  head.set('Nats-Service-Error-Code', '400');
  message.respond(undefined, { headers: head });
}
