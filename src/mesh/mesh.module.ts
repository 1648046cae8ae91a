import { Module } from '@nestjs/common';
import { AnnouncementModule } from '../announcement/announcement.module.js';
import { RoutingModule } from '../routing/routing.module.js';
import { ConsoleKernelTools } from './console-kernel-tools.js';
import { ConsoleController } from './console.controller.js';
import { MeshConsole } from './console.service.js';
import { Fleets } from './fleet.service.js';
import { MeshController } from './mesh.controller.js';
import { Modules } from './modules.service.js';
import { RecordsController } from './records.controller.js';
import { Records } from './records.service.js';

/** What should exist on the bus and what does (chapter 8): records, the fleet as it answers, the console's five tools. */
@Module({
  imports: [AnnouncementModule, RoutingModule],
  controllers: [ConsoleController, MeshController, RecordsController],
  providers: [ConsoleKernelTools, Fleets, MeshConsole, Modules, Records],
})
export class MeshModule {}
