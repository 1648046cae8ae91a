import { Controller } from '@nestjs/common';
import { CallerOf, type PlatformCaller } from '../doors/caller.js';
import { Fields, Input, type VerbInput } from '../doors/input.js';
import { Verb } from '../doors/verb.decorator.js';
import { AuditService } from './audit.service.js';
import { listAuditVerb } from './audit.verbs.js';
import { RetentionFields } from './retention-settings.fields.js';
import { RetentionSettingsService } from './retention-settings.service.js';
import { changeRetentionVerb, readRetentionVerb } from './retention-settings.verbs.js';

/** What concerns the account as a whole: its audit and its settings. */
@Controller()
export class AccountController {
  constructor(
    private readonly audit: AuditService,
    private readonly retention: RetentionSettingsService,
  ) {}

  @Verb(listAuditVerb)
  listAudit(@CallerOf() caller: PlatformCaller, @Input() input: VerbInput): Promise<object> {
    return this.audit.list(caller, input);
  }

  @Verb(readRetentionVerb)
  readRetention(@CallerOf() caller: PlatformCaller): Promise<object> {
    return this.retention.read(caller);
  }

  @Verb(changeRetentionVerb)
  changeRetention(@CallerOf() caller: PlatformCaller, @Fields() fields: RetentionFields): Promise<object> {
    return this.retention.change(caller, fields.execution_details_retention_days);
  }
}
