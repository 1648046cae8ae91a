import { Global, Module } from '@nestjs/common';
import { BusConnections } from './bus-connections.js';
import { BusStrategy } from './bus.strategy.js';
import { ExecutorPush } from './executor-push.js';
import { AccountClaims } from './grants/account-claims.js';
import { NodeUsers } from './grants/node-users.js';
import { ServedAccounts } from './grants/served-accounts.js';
import { SystemLink } from './grants/system-link.js';
import { NodeEvents } from './node-events.js';
import { ToolRequests } from './tool-requests.js';

/** NATS: the connections, the door, who is granted what, what nodes tell each other, what executors are pushed and
 * asked. */
@Global()
@Module({
  providers: [
    AccountClaims,
    BusConnections,
    BusStrategy,
    ExecutorPush,
    NodeEvents,
    NodeUsers,
    ServedAccounts,
    SystemLink,
    ToolRequests,
  ],
  exports: [AccountClaims, BusConnections, BusStrategy, ExecutorPush, NodeEvents, NodeUsers, ToolRequests],
})
export class BusModule {}
