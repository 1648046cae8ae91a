import { Module } from '@nestjs/common';
import { Nightly } from './nightly.service.js';
import { PruneController } from './prune.controller.js';
import { Pruning } from './pruning.service.js';

/** Retention (chapter 7): what is pruned when it has aged, every night and when it is asked for. */
@Module({
  controllers: [PruneController],
  providers: [Nightly, Pruning],
})
export class RetentionModule {}
