import { Module } from '@nestjs/common';
import { AnnouncementModule } from '../announcement/announcement.module.js';
import { AssemblyController } from './assembly.controller.js';
import { AssemblyPreview } from './assembly-preview.service.js';
import { AssemblyService } from './assembly.service.js';
import { ProfileController } from './profile.controller.js';
import { Profiles } from './profile.service.js';

/** Profiles, and what a run receives of them (chapter 4). */
@Module({
  imports: [AnnouncementModule],
  controllers: [ProfileController, AssemblyController],
  providers: [Profiles, AssemblyService, AssemblyPreview],
  exports: [Profiles, AssemblyService],
})
export class AssemblyModule {}
