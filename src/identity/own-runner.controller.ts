import { Controller } from '@nestjs/common';
import { Answer } from '../doors/answer.js';
import { CallerOf, type MemberCaller } from '../doors/caller.js';
import { Fields, Input, type VerbInput } from '../doors/input.js';
import { Verb } from '../doors/verb.decorator.js';
import { ExecutorLifecycleService } from './executor-lifecycle.service.js';
import {
  listOwnRunnersVerb,
  registerOwnRunnerVerb,
  resumeOwnRunnerVerb,
  revokeOwnRunnerVerb,
  shutDownOwnRunnerVerb,
} from './own-runner.verbs.js';
import { RegistrationFields } from './registration.fields.js';
import { ownRunnerOf } from './registration-request.js';
import { RegistrationService } from './registration.service.js';

@Controller()
export class OwnRunnerController {
  constructor(
    private readonly registrations: RegistrationService,
    private readonly lifecycle: ExecutorLifecycleService,
  ) {}

  @Verb(registerOwnRunnerVerb)
  register(
    @CallerOf() caller: MemberCaller,
    @Input() input: VerbInput,
    @Fields() fields: RegistrationFields,
  ): Promise<Answer> {
    return this.registrations.register(registerOwnRunnerVerb, caller, input, ownRunnerOf(caller, fields));
  }

  @Verb(listOwnRunnersVerb)
  list(@CallerOf() caller: MemberCaller, @Input() input: VerbInput): Promise<object> {
    return this.lifecycle.list(caller, input);
  }

  @Verb(revokeOwnRunnerVerb)
  revoke(@CallerOf() caller: MemberCaller, @Input() input: VerbInput): Promise<object> {
    return this.lifecycle.revoke(caller, input);
  }

  @Verb(shutDownOwnRunnerVerb)
  shutDown(@CallerOf() caller: MemberCaller, @Input() input: VerbInput): Promise<object> {
    return this.lifecycle.shutDown(caller, input);
  }

  @Verb(resumeOwnRunnerVerb)
  resume(@CallerOf() caller: MemberCaller, @Input() input: VerbInput): Promise<object> {
    return this.lifecycle.resume(caller, input);
  }
}
