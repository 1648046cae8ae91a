import { Controller } from '@nestjs/common';
import type { Answer } from '../doors/answer.js';
import { CallerOf, type MemberCaller } from '../doors/caller.js';
import { Input, type VerbInput } from '../doors/input.js';
import { Verb } from '../doors/verb.decorator.js';
import { Calls } from './call.service.js';
import { Tasks } from './tasks.service.js';
import { acceptTasksVerb, callVerb, listTasksVerb, readTaskVerb } from './tasks.verbs.js';
import { viewerOf } from './viewer.js';

@Controller()
export class TasksController {
  constructor(
    private readonly tasks: Tasks,
    private readonly calls: Calls,
  ) {}

  @Verb(acceptTasksVerb)
  accept(@CallerOf() caller: MemberCaller, @Input() input: VerbInput): Promise<Answer> {
    return this.tasks.accept(acceptTasksVerb, caller, input);
  }

  @Verb(listTasksVerb)
  list(@CallerOf() caller: MemberCaller, @Input() input: VerbInput): Promise<object> {
    return this.tasks.page(viewerOf(caller), input);
  }

  @Verb(readTaskVerb)
  read(@CallerOf() caller: MemberCaller, @Input() input: VerbInput): Promise<object> {
    return this.tasks.one(viewerOf(caller), input);
  }

  @Verb(callVerb)
  call(@CallerOf() caller: MemberCaller, @Input() input: VerbInput): Promise<object> {
    return this.calls.call(callVerb, caller, input);
  }
}
