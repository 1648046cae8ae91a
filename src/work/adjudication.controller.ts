import { Controller } from '@nestjs/common';
import type { Answer } from '../doors/answer.js';
import { CallerOf, type MemberCaller, type PlatformCaller } from '../doors/caller.js';
import { Input, type VerbInput } from '../doors/input.js';
import { Verb } from '../doors/verb.decorator.js';
import {
  approveVerb,
  cancelVerb,
  denyVerb,
  listApprovalsVerb,
  platformApproveVerb,
  platformDenyVerb,
  platformListApprovalsVerb,
  retryVerb,
} from './adjudication.verbs.js';
import { Approvals } from './approvals.service.js';
import { Cancellations } from './cancellations.service.js';
import { Decisions } from './decisions.service.js';
import { Retries } from './retries.service.js';

@Controller()
export class AdjudicationController {
  constructor(
    private readonly approvals: Approvals,
    private readonly decisions: Decisions,
    private readonly retries: Retries,
    private readonly cancellations: Cancellations,
  ) {}

  @Verb(listApprovalsVerb)
  list(@CallerOf() caller: MemberCaller, @Input() input: VerbInput): Promise<object> {
    return this.approvals.page(caller, input);
  }

  @Verb(approveVerb)
  approve(@CallerOf() caller: MemberCaller, @Input() input: VerbInput): Promise<object> {
    return this.decisions.approve(caller, input);
  }

  @Verb(denyVerb)
  deny(@CallerOf() caller: MemberCaller, @Input() input: VerbInput): Promise<object> {
    return this.decisions.deny(caller, input);
  }

  @Verb(retryVerb)
  retry(@CallerOf() caller: MemberCaller, @Input() input: VerbInput): Promise<Answer> {
    return this.retries.retry(retryVerb, caller, input);
  }

  @Verb(cancelVerb)
  cancel(@CallerOf() caller: MemberCaller, @Input() input: VerbInput): Promise<object> {
    return this.cancellations.cancel(caller, input);
  }

  @Verb(platformListApprovalsVerb)
  platformList(@CallerOf() caller: PlatformCaller, @Input() input: VerbInput): Promise<object> {
    return this.approvals.page(caller, input);
  }

  @Verb(platformApproveVerb)
  platformApprove(@CallerOf() caller: PlatformCaller, @Input() input: VerbInput): Promise<object> {
    return this.decisions.approve(caller, input);
  }

  @Verb(platformDenyVerb)
  platformDeny(@CallerOf() caller: PlatformCaller, @Input() input: VerbInput): Promise<object> {
    return this.decisions.deny(caller, input);
  }
}
