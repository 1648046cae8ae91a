import { Controller } from '@nestjs/common';
import { Answer } from '../doors/answer.js';
import { CallerOf, type PlatformCaller } from '../doors/caller.js';
import { Fields, Input, type VerbInput } from '../doors/input.js';
import { Verb } from '../doors/verb.decorator.js';
import { CredentialFields } from './credential.fields.js';
import { CredentialService } from './credential.service.js';
import { createCredentialVerb, listCredentialsVerb, revokeCredentialVerb } from './credential.verbs.js';

@Controller()
export class CredentialController {
  constructor(private readonly credentials: CredentialService) {}

  @Verb(createCredentialVerb)
  create(
    @CallerOf() caller: PlatformCaller,
    @Input() input: VerbInput,
    @Fields() fields: CredentialFields,
  ): Promise<Answer> {
    return this.credentials.create(caller, input, fields);
  }

  @Verb(listCredentialsVerb)
  list(@CallerOf() caller: PlatformCaller, @Input() input: VerbInput): Promise<object> {
    return this.credentials.list(caller, input);
  }

  @Verb(revokeCredentialVerb)
  revoke(@CallerOf() caller: PlatformCaller, @Input() input: VerbInput): Promise<void> {
    return this.credentials.revoke(caller, input);
  }
}
