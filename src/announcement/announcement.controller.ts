import { Controller } from '@nestjs/common';
import { CallerOf, type ExecutorCaller } from '../doors/caller.js';
import { Input, type VerbInput } from '../doors/input.js';
import { Verb } from '../doors/verb.decorator.js';
import { AnnouncementService } from './announcement.service.js';
import { announceVerb, describeVerb } from './announcement.verbs.js';
import { DescriptionService } from './description.service.js';
import type { ExecutorDescription } from './executor-description.js';
import { incarnationOf } from './incarnation.js';

@Controller()
export class AnnouncementController {
  constructor(
    private readonly announcements: AnnouncementService,
    private readonly descriptions: DescriptionService,
  ) {}

  @Verb(announceVerb)
  announce(@CallerOf() caller: ExecutorCaller, @Input() input: VerbInput): Promise<ExecutorDescription> {
    return this.announcements.announce(caller, input.body.text);
  }

  @Verb(describeVerb)
  describe(@CallerOf() caller: ExecutorCaller, @Input() input: VerbInput): Promise<ExecutorDescription> {
    return this.descriptions.describe(caller, incarnationOf(input));
  }
}
