import { Global, Module } from '@nestjs/common';
import { RoutingModule } from '../routing/routing.module.js';
import { RunEffects } from '../routing/run-effects.js';
import { ConversationEffects } from './conversation-effects.service.js';
import { EffectsController } from './effects.controller.js';
import { CapturedRunEffects } from './run-effects.service.js';

/** Effect evidence (chapter 7). Global, since a run shows its effects and routing may not import what is built on it. */
@Global()
@Module({
  imports: [RoutingModule],
  controllers: [EffectsController],
  providers: [ConversationEffects, { provide: RunEffects, useClass: CapturedRunEffects }],
  exports: [RunEffects],
})
export class EffectsModule {}
