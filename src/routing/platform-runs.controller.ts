import { Controller } from '@nestjs/common';
import { CallerOf, type PlatformCaller } from '../doors/caller.js';
import { Input, type VerbInput } from '../doors/input.js';
import { Verb } from '../doors/verb.decorator.js';
import { platformRunsVerb, platformRunVerb, platformTasksVerb } from './platform-runs.verbs.js';
import { Runs } from './runs.service.js';
import { Tasks } from './tasks.service.js';
import { viewerOf } from './viewer.js';

@Controller()
export class PlatformRunsController {
  constructor(
    private readonly runs: Runs,
    private readonly tasks: Tasks,
  ) {}

  @Verb(platformRunsVerb)
  list(@CallerOf() caller: PlatformCaller, @Input() input: VerbInput): Promise<object> {
    return this.runs.page(viewerOf(caller), input);
  }

  @Verb(platformRunVerb)
  read(@CallerOf() caller: PlatformCaller, @Input() input: VerbInput): Promise<object> {
    return this.runs.one(viewerOf(caller), input.field('run_public_id'));
  }

  @Verb(platformTasksVerb)
  listTasks(@CallerOf() caller: PlatformCaller, @Input() input: VerbInput): Promise<object> {
    return this.tasks.page(viewerOf(caller), input);
  }
}
