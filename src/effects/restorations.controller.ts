import { Controller } from '@nestjs/common';
import type { Answer } from '../doors/answer.js';
import { CallerOf, type MemberCaller } from '../doors/caller.js';
import { Input, type VerbInput } from '../doors/input.js';
import { Verb } from '../doors/verb.decorator.js';
import { viewerOf } from '../routing/viewer.js';
import { Restorations } from './restorations.service.js';
import { readRestorationVerb, startRestorationVerb } from './restorations.verbs.js';

@Controller()
export class RestorationsController {
  constructor(private readonly restorations: Restorations) {}

  @Verb(startRestorationVerb)
  start(@CallerOf() caller: MemberCaller, @Input() input: VerbInput): Promise<Answer> {
    return this.restorations.start(startRestorationVerb, caller, input);
  }

  @Verb(readRestorationVerb)
  read(@CallerOf() caller: MemberCaller, @Input() input: VerbInput): Promise<object> {
    return this.restorations.one(viewerOf(caller), input);
  }
}
