import { Controller } from '@nestjs/common';
import { CallerOf, type MemberCaller } from '../doors/caller.js';
import { Input, type VerbInput } from '../doors/input.js';
import { Verb } from '../doors/verb.decorator.js';
import { viewerOf } from '../routing/viewer.js';
import { ConversationEffects } from './conversation-effects.service.js';
import { conversationEffectsVerb } from './effects.verbs.js';

@Controller()
export class EffectsController {
  constructor(private readonly effects: ConversationEffects) {}

  @Verb(conversationEffectsVerb)
  since(@CallerOf() caller: MemberCaller, @Input() input: VerbInput): Promise<object> {
    return this.effects.since(viewerOf(caller), input);
  }
}
