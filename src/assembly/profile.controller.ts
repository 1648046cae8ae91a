import { Controller } from '@nestjs/common';
import { CallerOf, type MemberCaller } from '../doors/caller.js';
import { Input, type VerbInput } from '../doors/input.js';
import { Verb } from '../doors/verb.decorator.js';
import { Profiles } from './profile.service.js';
import { configureVerb, profileVerb } from './profile.verbs.js';

@Controller()
export class ProfileController {
  constructor(private readonly profiles: Profiles) {}

  @Verb(profileVerb)
  async profile(@CallerOf() caller: MemberCaller): Promise<object> {
    return (await this.profiles.get(caller)).json;
  }

  @Verb(configureVerb)
  async configure(@CallerOf() caller: MemberCaller, @Input() input: VerbInput): Promise<object> {
    return (await this.profiles.replace(caller, input.body.text)).json;
  }
}
