import { Controller } from '@nestjs/common';
import { CallerOf, type PlatformCaller } from '../doors/caller.js';
import { Verb } from '../doors/verb.decorator.js';
import { Pruning } from './pruning.service.js';
import { pruneVerb } from './prune.verbs.js';

@Controller()
export class PruneController {
  constructor(private readonly pruning: Pruning) {}

  @Verb(pruneVerb)
  prune(@CallerOf() caller: PlatformCaller): Promise<object> {
    return this.pruning.asked(caller);
  }
}
