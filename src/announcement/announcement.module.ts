import { Module } from '@nestjs/common';
import { AnnouncementController } from './announcement.controller.js';
import { AnnouncementDirectory } from './announcement-directory.js';
import { AnnouncementService } from './announcement.service.js';
import { DescriptionService } from './description.service.js';

/** What executors serve (chapter 2), and the seat of one process for each (chapter 1). */
@Module({
  controllers: [AnnouncementController],
  providers: [AnnouncementDirectory, AnnouncementService, DescriptionService],
  exports: [AnnouncementDirectory],
})
export class AnnouncementModule {}
