import { Controller } from '@nestjs/common';
import type { Answer } from '../doors/answer.js';
import { CallerOf, type PlatformCaller } from '../doors/caller.js';
import { Fields, Input, type VerbInput } from '../doors/input.js';
import { Verb } from '../doors/verb.decorator.js';
import { ModuleChangeFields, ModuleFields } from './module.fields.js';
import { Modules } from './modules.service.js';
import { changeModuleVerb, createModuleVerb, listModulesVerb } from './modules.verbs.js';
import { Records } from './records.service.js';
import { listAssignmentsVerb, listMachinesVerb } from './records.verbs.js';

/** The seat `controller`, and the administration of its records. */
@Controller()
export class RecordsController {
  constructor(
    private readonly records: Records,
    private readonly moduleRecords: Modules,
  ) {}

  @Verb(listMachinesVerb)
  machines(@CallerOf() caller: PlatformCaller, @Input() input: VerbInput): Promise<object> {
    return this.records.machines(caller, input);
  }

  @Verb(listModulesVerb)
  modules(@CallerOf() caller: PlatformCaller, @Input() input: VerbInput): Promise<object> {
    return this.moduleRecords.list(caller, input);
  }

  @Verb(listAssignmentsVerb)
  assignments(@CallerOf() caller: PlatformCaller, @Input() input: VerbInput): Promise<object> {
    return this.records.assignments(caller, input);
  }

  @Verb(createModuleVerb)
  create(
    @CallerOf() caller: PlatformCaller,
    @Input() input: VerbInput,
    @Fields() fields: ModuleFields,
  ): Promise<Answer> {
    return this.moduleRecords.create(caller, input, fields);
  }

  @Verb(changeModuleVerb)
  change(
    @CallerOf() caller: PlatformCaller,
    @Input() input: VerbInput,
    @Fields() fields: ModuleChangeFields,
  ): Promise<object> {
    return this.moduleRecords.change(caller, input, fields);
  }
}
