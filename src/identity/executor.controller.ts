import { Controller } from '@nestjs/common';
import { Answer } from '../doors/answer.js';
import { CallerOf, type PlatformCaller } from '../doors/caller.js';
import { Fields, Input, type VerbInput } from '../doors/input.js';
import { Verb } from '../doors/verb.decorator.js';
import { ExecutorLifecycleService } from './executor-lifecycle.service.js';
import {
  listExecutorsVerb,
  registerExecutorVerb,
  resumeExecutorVerb,
  revokeExecutorVerb,
  shutDownExecutorVerb,
} from './executor.verbs.js';
import { RegistrationFields } from './registration.fields.js';
import { registrationOf } from './registration-request.js';
import { RegistrationService } from './registration.service.js';

@Controller()
export class ExecutorController {
  constructor(
    private readonly registrations: RegistrationService,
    private readonly lifecycle: ExecutorLifecycleService,
  ) {}

  @Verb(registerExecutorVerb)
  register(
    @CallerOf() caller: PlatformCaller,
    @Input() input: VerbInput,
    @Fields() fields: RegistrationFields,
  ): Promise<Answer> {
    return this.registrations.register(registerExecutorVerb, caller, input, registrationOf(fields));
  }

  @Verb(listExecutorsVerb)
  list(@CallerOf() caller: PlatformCaller, @Input() input: VerbInput): Promise<object> {
    return this.lifecycle.list(caller, input);
  }

  @Verb(revokeExecutorVerb)
  revoke(@CallerOf() caller: PlatformCaller, @Input() input: VerbInput): Promise<object> {
    return this.lifecycle.revoke(caller, input);
  }

  @Verb(shutDownExecutorVerb)
  shutDown(@CallerOf() caller: PlatformCaller, @Input() input: VerbInput): Promise<object> {
    return this.lifecycle.shutDown(caller, input);
  }

  @Verb(resumeExecutorVerb)
  resume(@CallerOf() caller: PlatformCaller, @Input() input: VerbInput): Promise<object> {
    return this.lifecycle.resume(caller, input);
  }
}
