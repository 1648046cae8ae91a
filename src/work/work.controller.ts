import { Controller } from '@nestjs/common';
import type { Answer } from '../doors/answer.js';
import { CallerOf, type ExecutorCaller } from '../doors/caller.js';
import { Input, type VerbInput } from '../doors/input.js';
import { Verb } from '../doors/verb.decorator.js';
import { ClaimStatus } from './claim-status.service.js';
import { Claims } from './claims.service.js';
import { Commits } from './commits.service.js';
import { Extensions } from './extensions.service.js';
import { Inbox } from './inbox.service.js';
import { Progress } from './progress.service.js';
import { claimStatusVerb, claimVerb, commitVerb, extendVerb, inboxVerb, progressVerb } from './work.verbs.js';

@Controller()
export class WorkController {
  constructor(
    private readonly waiting: Inbox,
    private readonly claims: Claims,
    private readonly statuses: ClaimStatus,
    private readonly extensions: Extensions,
    private readonly commits: Commits,
    private readonly frames: Progress,
  ) {}

  @Verb(inboxVerb)
  inbox(@CallerOf() caller: ExecutorCaller, @Input() input: VerbInput): Promise<object> {
    return this.waiting.page(caller, input);
  }

  @Verb(claimVerb)
  claim(@CallerOf() caller: ExecutorCaller, @Input() input: VerbInput): Promise<object> {
    return this.claims.claim(caller, input);
  }

  @Verb(claimStatusVerb)
  claimStatus(@CallerOf() caller: ExecutorCaller, @Input() input: VerbInput): Promise<Answer> {
    return this.statuses.show(caller, input);
  }

  @Verb(extendVerb)
  extend(@CallerOf() caller: ExecutorCaller, @Input() input: VerbInput): Promise<object> {
    return this.extensions.extend(caller, input);
  }

  @Verb(commitVerb)
  commit(@CallerOf() caller: ExecutorCaller, @Input() input: VerbInput): Promise<object> {
    return this.commits.commit(caller, input);
  }

  @Verb(progressVerb)
  progress(@CallerOf() caller: ExecutorCaller, @Input() input: VerbInput): Promise<object> {
    return this.frames.show(caller, input);
  }
}
