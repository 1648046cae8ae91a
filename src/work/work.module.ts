import { Global, Module } from '@nestjs/common';
import { AnnouncementModule } from '../announcement/announcement.module.js';
import { Deliveries } from '../routing/deliveries.js';
import { RoutingModule } from '../routing/routing.module.js';
import { AdjudicatedTasks } from './adjudicated-tasks.js';
import { AdjudicationController } from './adjudication.controller.js';
import { Approvals } from './approvals.service.js';
import { Cancellations } from './cancellations.service.js';
import { ClaimStatus } from './claim-status.service.js';
import { Claims } from './claims.service.js';
import { Commits } from './commits.service.js';
import { Decisions } from './decisions.service.js';
import { DeliveredCalls } from './delivery/delivered-calls.service.js';
import { Redelivery } from './delivery/redelivery.service.js';
import { ServeDeliveries } from './delivery/serve-deliveries.js';
import { Extensions } from './extensions.service.js';
import { Inbox } from './inbox.service.js';
import { Progress } from './progress.service.js';
import { Retries } from './retries.service.js';
import { Revocation } from './revocation.service.js';
import { SameTarget } from './same-target.js';
import { SettledTasks } from './settled-tasks.js';
import { Sweep } from './sweep.service.js';
import { WorkController } from './work.controller.js';

/**
 * Inbox, claim, extend, commit, progress, expiry and adjudication (chapter 6), and delivery (chapter 8). Global, since
 * acceptance has calls delivered and routing may not import what is built on it.
 */
@Global()
@Module({
  imports: [AnnouncementModule, RoutingModule],
  controllers: [AdjudicationController, WorkController],
  providers: [
    AdjudicatedTasks,
    Approvals,
    Cancellations,
    Claims,
    ClaimStatus,
    Commits,
    Decisions,
    { provide: Deliveries, useExisting: ServeDeliveries },
    DeliveredCalls,
    Extensions,
    Inbox,
    Progress,
    Redelivery,
    Retries,
    Revocation,
    SameTarget,
    ServeDeliveries,
    SettledTasks,
    Sweep,
  ],
  exports: [Deliveries, Redelivery],
})
export class WorkModule {}
