import { Module } from '@nestjs/common';
import { AnnouncementModule } from '../announcement/announcement.module.js';
import { AssemblyModule } from '../assembly/assembly.module.js';
import { Acceptance } from './acceptance.service.js';
import { Calls } from './call.service.js';
import { ConversationsController } from './conversations.controller.js';
import { Conversations } from './conversations.service.js';
import { DeclarationStore } from './declaration-store.js';
import { Dispatch } from './dispatch.js';
import { KernelWork } from './kernel-work.js';
import { MeshAddresses } from './mesh-addresses.js';
import { PlaceFinder } from './place-finder.js';
import { PlatformRunsController } from './platform-runs.controller.js';
import { RunCreation } from './run-creation.service.js';
import { RunDirectory } from './run-directory.js';
import { RunFollowers } from './run-followers.service.js';
import { RunStop } from './run-stop.service.js';
import { RunsController } from './runs.controller.js';
import { Runs } from './runs.service.js';
import { TaskEvents } from './task-events.js';
import { TaskWaits } from './task-waits.js';
import { TasksController } from './tasks.controller.js';
import { Tasks } from './tasks.service.js';
import { ToolProviderOverridesController } from './tool-provider-overrides.controller.js';
import { ToolProviderOverrides } from './tool-provider-overrides.service.js';

/** Runs, acceptance and where a call goes (chapter 5). The effects module provides `RunEffects`. */
@Module({
  imports: [AnnouncementModule, AssemblyModule],
  controllers: [
    ConversationsController,
    RunsController,
    TasksController,
    PlatformRunsController,
    ToolProviderOverridesController,
  ],
  providers: [
    Acceptance,
    Calls,
    Conversations,
    DeclarationStore,
    Dispatch,
    KernelWork,
    MeshAddresses,
    PlaceFinder,
    RunCreation,
    RunDirectory,
    RunFollowers,
    Runs,
    RunStop,
    TaskEvents,
    Tasks,
    TaskWaits,
    ToolProviderOverrides,
  ],
  exports: [
    Acceptance,
    Calls,
    Conversations,
    DeclarationStore,
    Dispatch,
    KernelWork,
    MeshAddresses,
    RunDirectory,
    Runs,
    TaskEvents,
    TaskWaits,
  ],
})
export class RoutingModule {}
