import { Global, Module } from '@nestjs/common';
import { BusConnections } from './bus-connections.js';
import { BusStrategy } from './bus.strategy.js';
import { ExecutorPush } from './executor-push.js';
import { NodeEvents } from './node-events.js';

/** NATS: the connections, the door, what nodes tell each other, what executors are pushed. */
@Global()
@Module({
  providers: [BusConnections, BusStrategy, ExecutorPush, NodeEvents],
  exports: [BusConnections, BusStrategy, ExecutorPush, NodeEvents],
})
export class BusModule {}
