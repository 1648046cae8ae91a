import { Controller } from '@nestjs/common';
import type { Answer } from '../doors/answer.js';
import { CallerOf, type MemberCaller } from '../doors/caller.js';
import { Input, type VerbInput } from '../doors/input.js';
import { Verb } from '../doors/verb.decorator.js';
import { Conversations } from './conversations.service.js';
import { createConversationVerb, readConversationVerb, setDefaultRunnerVerb } from './conversations.verbs.js';
import { viewerOf } from './viewer.js';

@Controller()
export class ConversationsController {
  constructor(private readonly conversations: Conversations) {}

  @Verb(createConversationVerb)
  create(@CallerOf() caller: MemberCaller, @Input() input: VerbInput): Promise<Answer> {
    return this.conversations.create(createConversationVerb, caller, input);
  }

  @Verb(readConversationVerb)
  read(@CallerOf() caller: MemberCaller, @Input() input: VerbInput): Promise<object> {
    return this.conversations.one(viewerOf(caller), input.field('public_id'));
  }

  @Verb(setDefaultRunnerVerb)
  setDefaultRunner(@CallerOf() caller: MemberCaller, @Input() input: VerbInput): Promise<object> {
    return this.conversations.replaceDefaultRunner(caller, input);
  }
}
