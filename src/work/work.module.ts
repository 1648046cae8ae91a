import { Module } from '@nestjs/common';
import { RoutingModule } from '../routing/routing.module.js';
import { ClaimStatus } from './claim-status.service.js';
import { Claims } from './claims.service.js';
import { Commits } from './commits.service.js';
import { Extensions } from './extensions.service.js';
import { Inbox } from './inbox.service.js';
import { Progress } from './progress.service.js';
import { Revocation } from './revocation.service.js';
import { SettledTasks } from './settled-tasks.js';
import { Sweep } from './sweep.service.js';
import { WorkController } from './work.controller.js';

/** Inbox, claim, extend, commit, progress and expiry (chapter 6). */
@Module({
  imports: [RoutingModule],
  controllers: [WorkController],
  providers: [ClaimStatus, Claims, Commits, Extensions, Inbox, Progress, Revocation, SettledTasks, Sweep],
})
export class WorkModule {}
