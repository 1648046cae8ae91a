import { PRODUCT_VERSION } from '../../services-protocol/product-version.js';
import type { EndpointDescription, ServiceDescription } from '../../services-protocol/service-description.js';
import { ServiceResponder } from '../../services-protocol/service-responder.js';
import type { BusLink } from './bus-link.js';
import type { Registration } from './registration.js';
import type { ServedTool } from './tool.js';
import type { ServedEndpoint } from './tool-subscriptions.js';

/**
 * What this process says of itself on the bus (chapter 8): a service for each module of its executor, an endpoint for each
 * tool that is served. Invariant: it says what Nexus has taken, and nothing while another process speaks for the executor.
 */
export class ModuleServices {
  private readonly responders: ReadonlyMap<string, ServiceResponder>;
  private answering = false;

  constructor(
    private readonly link: BusLink,
    private readonly registration: Registration,
  ) {
    const responderOf = (module: string): ServiceResponder =>
      new ServiceResponder(serviceOf(module, registration), new Map());
    this.responders = new Map(registration.executor.modules.map((module) => [module, responderOf(module)]));
  }

  /** Says from now on that `tools` are served, as far as `endpoints` are. Resolves when whoever asks is answered. */
  async say(tools: ReadonlyMap<string, ServedTool>, endpoints: readonly ServedEndpoint[]): Promise<void> {
    const { modules, assignment_scope: scope } = this.registration.executor;
    const stats = new Map(endpoints.map((endpoint) => [endpoint.tool, endpoint.stats]));
    for (const [module, responder] of this.responders) {
      const described = endpoints.flatMap(({ tool: name, subject, queue_group }): EndpointDescription[] => {
        const tool = tools.get(name);
        if (!tool || (tool.module ?? modules[0]) !== module) return [];
        return [{ name, subject, queue_group, metadata: { ...metadataOf(tool), scope } }];
      });
      responder.serves(described, stats);
      if (!this.answering) this.link.answer(responder);
    }
    this.answering = true;
    await this.link.flush();
  }

  /** Is silent from now on. */
  stop(): void {
    for (const responder of this.responders.values()) responder.stop();
    this.answering = false;
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

function metadataOf(tool: ServedTool): Record<string, string> {
  const { description, input_schema, effect_profile, timeout_ms } = tool;
  return {
    ...(description !== undefined && { description }),
    ...(input_schema && { input_schema: JSON.stringify(input_schema) }),
    effect_profile: JSON.stringify(effect_profile),
    ...(timeout_ms !== undefined && { timeout_ms: String(timeout_ms) }),
  };
}
