import { Module } from '@nestjs/common';
import { DiscoveryController } from './discovery.controller.js';
import { DiscoveryService } from './discovery.service.js';
import { KnownTags } from './known-tags.js';

/** Which executors a member may address (chapter 3). */
@Module({ controllers: [DiscoveryController], providers: [DiscoveryService, KnownTags] })
export class DiscoveryModule {}
