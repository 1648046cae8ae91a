import { Controller, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { CallerOf, type PlatformCaller } from '../doors/caller.js';
import { Input, type VerbInput } from '../doors/input.js';
import { Verb } from '../doors/verb.decorator.js';
import {
  platformFollowRunVerb,
  platformRunsVerb,
  platformRunVerb,
  platformTasksVerb,
  platformTaskVerb,
} from './platform-runs.verbs.js';
import { RunFollowers } from './run-followers.service.js';
import { Runs } from './runs.service.js';
import { Tasks } from './tasks.service.js';
import { viewerOf } from './viewer.js';

@Controller()
export class PlatformRunsController {
  constructor(
    private readonly runs: Runs,
    private readonly tasks: Tasks,
    private readonly followers: RunFollowers,
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

  @Verb(platformTaskVerb)
  readTask(@CallerOf() caller: PlatformCaller, @Input() input: VerbInput): Promise<object> {
    return this.tasks.one(viewerOf(caller), input);
  }

  @Verb(platformFollowRunVerb)
  follow(
    @CallerOf() caller: PlatformCaller,
    @Input() input: VerbInput,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.followers.follow(caller, input, reply);
  }
}
