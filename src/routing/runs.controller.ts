import { Controller, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { Answer } from '../doors/answer.js';
import { CallerOf, type MemberCaller } from '../doors/caller.js';
import { Input, type VerbInput } from '../doors/input.js';
import { Verb } from '../doors/verb.decorator.js';
import { RunCreation } from './run-creation.service.js';
import { RunFollowers } from './run-followers.service.js';
import { RunStop } from './run-stop.service.js';
import { Runs } from './runs.service.js';
import { createRunVerb, followRunVerb, listRunsVerb, readRunVerb, stopRunVerb } from './runs.verbs.js';
import { viewerOf } from './viewer.js';

@Controller()
export class RunsController {
  constructor(
    private readonly runs: Runs,
    private readonly creation: RunCreation,
    private readonly stopping: RunStop,
    private readonly followers: RunFollowers,
  ) {}

  @Verb(createRunVerb)
  create(@CallerOf() caller: MemberCaller, @Input() input: VerbInput): Promise<Answer> {
    return this.creation.create(createRunVerb, caller, input);
  }

  @Verb(listRunsVerb)
  list(@CallerOf() caller: MemberCaller, @Input() input: VerbInput): Promise<object> {
    return this.runs.page(viewerOf(caller), input);
  }

  @Verb(readRunVerb)
  read(@CallerOf() caller: MemberCaller, @Input() input: VerbInput): Promise<object> {
    return this.runs.one(viewerOf(caller), input.field('run_public_id'));
  }

  @Verb(stopRunVerb)
  stop(@CallerOf() caller: MemberCaller, @Input() input: VerbInput): Promise<object> {
    return this.stopping.stop(viewerOf(caller), input.field('run_public_id'));
  }

  @Verb(followRunVerb)
  follow(
    @CallerOf() caller: MemberCaller,
    @Input() input: VerbInput,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.followers.follow(caller, input, reply);
  }
}
