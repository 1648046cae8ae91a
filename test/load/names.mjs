/** The names of the rows, by which the ratios find them. Pipelines and Nexus have one for each delivery. */
export const BARE_NATS = 'bare NATS';
export const NAIVE = { serve: 'naive pipeline', claim: 'naive claim pipeline' };
export const BATCHED = { serve: 'batched pipeline', claim: 'batched claim pipeline' };
export const BULLMQ = { durable: 'BullMQ, appendfsync always', unsynced: 'BullMQ, appendfsync no' };
export const MCP_DIRECT = 'MCP direct';
export const NEXUS = {
  bus: { serve: 'Nexus over the bus, serve', claim: 'Nexus over the bus, claim' },
  rest: { serve: 'Nexus over REST, serve', claim: 'Nexus over REST, claim' },
};
