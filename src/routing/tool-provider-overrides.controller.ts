import { Controller } from '@nestjs/common';
import { CallerOf, type PlatformCaller } from '../doors/caller.js';
import { Input, type VerbInput } from '../doors/input.js';
import { Verb } from '../doors/verb.decorator.js';
import { ToolProviderOverrides } from './tool-provider-overrides.service.js';
import { readOverridesVerb, replaceOverridesVerb } from './tool-provider-overrides.verbs.js';

@Controller()
export class ToolProviderOverridesController {
  constructor(private readonly overrides: ToolProviderOverrides) {}

  @Verb(readOverridesVerb)
  read(@CallerOf() caller: PlatformCaller): Promise<object> {
    return this.overrides.read(caller);
  }

  @Verb(replaceOverridesVerb)
  replace(@CallerOf() caller: PlatformCaller, @Input() input: VerbInput): Promise<object> {
    return this.overrides.replace(caller, input);
  }
}
