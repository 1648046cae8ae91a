import { Global, Module } from '@nestjs/common';
import { AssemblyModule } from '../assembly/assembly.module.js';
import { RoutingModule } from '../routing/routing.module.js';
import { RunEffects } from '../routing/run-effects.js';
import { ConversationEffects } from './conversation-effects.service.js';
import { EffectsController } from './effects.controller.js';
import { RestorationsController } from './restorations.controller.js';
import { Restorations } from './restorations.service.js';
import { CapturedRunEffects } from './run-effects.service.js';

/**
 * Effect evidence and restorations (chapter 7). Global, since a run shows its effects and routing may not import what is built
 * on it.
 */
@Global()
@Module({
  imports: [AssemblyModule, RoutingModule],
  controllers: [EffectsController, RestorationsController],
  providers: [ConversationEffects, Restorations, { provide: RunEffects, useClass: CapturedRunEffects }],
  exports: [RunEffects],
})
export class EffectsModule {}
