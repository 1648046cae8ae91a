import { headers, type Msg, type Subscription } from 'nats';
import { PRODUCT_VERSION } from '../../services-protocol/product-version.js';
import {
  ENDPOINT_QUEUE,
  type EndpointDescription,
  EndpointStats,
  type ServiceDescription,
} from '../../services-protocol/service-description.js';
import { ServiceResponder } from '../../services-protocol/service-responder.js';
import type { BusLink } from './bus-link.js';
import type { Registration } from './registration.js';
import type { ServedTool } from './tool.js';

/** What Nexus takes as a name, and a subject's token may be: NATS ends a connection that subscribes some others. */
const SERVED_NAME = /^[A-Za-z0-9_-]{1,128}$/;

type Tools = ReadonlyMap<string, ServedTool>;

/**
 * What this process says of itself on the bus (chapter 8): a service for each module of its executor, an endpoint for
 * each tool. Invariant: a tool is announced there while its subject is subscribed and Nexus has taken the announcement.
 */
export class ModuleServices {
  private readonly stats = new Map<string, EndpointStats>();
  private readonly subscriptions = new Map<string, Subscription>();
  private readonly responders: ReadonlyMap<string, ServiceResponder>;
  private answering = false;

  constructor(
    private readonly link: BusLink,
    private readonly registration: Registration,
  ) {
    const { modules } = registration.executor;
    this.responders = new Map(
      modules.map((module) => [module, new ServiceResponder(serviceOf(module, registration), this.stats)]),
    );
  }

  /** Hears the subjects of `tools` beside those that it hears already: before they are announced to Nexus. */
  hear(tools: Tools): void {
    for (const name of tools.keys()) {
      if (this.subscriptions.has(name) || !SERVED_NAME.test(name)) continue;
      const stats = this.stats.get(name) ?? new EndpointStats();
      this.stats.set(name, stats);
      this.subscriptions.set(
        name,
        this.link.serve(this.subjectOf(name), (call) => decline(call, stats)),
      );
    }
  }

  /** Serves exactly `tools` from now on, and says so: once Nexus has taken them. */
  serve(tools: Tools): void {
    this.hear(tools);
    for (const [name, subscription] of this.subscriptions) {
      if (tools.has(name)) continue;
      subscription.unsubscribe();
      this.subscriptions.delete(name);
      this.stats.delete(name);
    }
    for (const [module, responder] of this.responders) {
      responder.serves(this.endpointsOf(module, tools), this.stats);
      if (!this.answering) this.link.answer(responder);
    }
    this.answering = true;
  }

  /** Counts one call of a tool, however it came; `error` is never what the tool said. */
  count(tool: string, nanoseconds: number, error?: string): void {
    this.stats.get(tool)?.count(nanoseconds, error);
  }

  /** Is silent from now on: this process serves nothing. */
  stop(): void {
    for (const responder of this.responders.values()) responder.stop();
    this.answering = false;
    for (const subscription of this.subscriptions.values()) subscription.unsubscribe();
    this.subscriptions.clear();
  }

  private endpointsOf(module: string, tools: Tools): EndpointDescription[] {
    const { modules, assignment_scope: scope } = this.registration.executor;
    return [...tools.values()]
      .filter((tool) => (tool.module ?? modules[0]) === module)
      .map((tool) => ({
        name: tool.name,
        subject: this.subjectOf(tool.name),
        queue_group: ENDPOINT_QUEUE,
        metadata: { ...metadataOf(tool), scope },
      }));
  }

  private subjectOf(tool: string): string {
    return `${this.registration.bus.subjects.tool}.${tool}`;
  }
}

function serviceOf(module: string, { executor }: Registration): ServiceDescription {
  const { public_id: id, display_name = id, kind, machine, assignment_scope: scope } = executor;
  const interchangeable = String(kind === 'tool_provider');
  return {
    name: module,
    id,
    version: PRODUCT_VERSION,
    description: `Tools of ${display_name}`,
    metadata: { machine, executor: id, interchangeable, scope },
    endpoints: [],
  };
}

function metadataOf({
  description,
  input_schema,
  effect_profile,
  timeout_ms,
}: ServedTool): Record<string, string> {
  return {
    ...(description !== undefined && { description }),
    ...(input_schema && { input_schema: JSON.stringify(input_schema) }),
    effect_profile: JSON.stringify(effect_profile),
    ...(timeout_ms !== undefined && { timeout_ms: String(timeout_ms) }),
  };
}

/** A runner that claims its calls takes none from whoever sends one: its subject says so instead of being silent. */
function decline(call: Msg, stats: EndpointStats): void {
  if (!call.reply?.startsWith('_INBOX.')) return;
  const head = headers();
  head.set('Nats-Service-Error', 'this runner claims its calls from Nexus');
  head.set('Nats-Service-Error-Code', '409');
  call.respond('', { headers: head });
  stats.count(0, 'sent, not claimed');
}
