import { Controller } from '@nestjs/common';
import { Answer } from '../doors/answer.js';
import { CallerOf, type MemberCaller, type PlatformCaller } from '../doors/caller.js';
import { Fields, Input, type VerbInput } from '../doors/input.js';
import { Verb } from '../doors/verb.decorator.js';
import { AgentChangeFields, AgentFields, HumanFields } from './member.fields.js';
import { MemberService } from './member.service.js';
import {
  changeAgentVerb,
  changeStewardedAgentVerb,
  createAgentVerb,
  createHumanVerb,
  listAgentsVerb,
  listHumansVerb,
} from './member.verbs.js';

@Controller()
export class MemberController {
  constructor(private readonly members: MemberService) {}

  @Verb(createHumanVerb)
  createHuman(
    @CallerOf() caller: PlatformCaller,
    @Input() input: VerbInput,
    @Fields() fields: HumanFields,
  ): Promise<Answer> {
    return this.members.createHuman(caller, input, fields);
  }

  @Verb(listHumansVerb)
  listHumans(@CallerOf() caller: PlatformCaller, @Input() input: VerbInput): Promise<object> {
    return this.members.listHumans(caller, input);
  }

  @Verb(createAgentVerb)
  createAgent(
    @CallerOf() caller: PlatformCaller,
    @Input() input: VerbInput,
    @Fields() fields: AgentFields,
  ): Promise<Answer> {
    return this.members.createAgent(caller, input, fields);
  }

  @Verb(listAgentsVerb)
  listAgents(@CallerOf() caller: PlatformCaller, @Input() input: VerbInput): Promise<object> {
    return this.members.listAgents(caller, input);
  }

  @Verb(changeAgentVerb)
  changeAgent(
    @CallerOf() caller: PlatformCaller,
    @Input() input: VerbInput,
    @Fields() fields: AgentChangeFields,
  ): Promise<object> {
    return this.members.changeAgent(caller, input, fields);
  }

  @Verb(changeStewardedAgentVerb)
  changeStewardedAgent(
    @CallerOf() caller: MemberCaller,
    @Input() input: VerbInput,
    @Fields() fields: AgentChangeFields,
  ): Promise<object> {
    return this.members.changeAgent(caller, input, fields);
  }
}
