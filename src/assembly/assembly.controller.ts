import { Controller } from '@nestjs/common';
import { CallerOf, type MemberCaller } from '../doors/caller.js';
import { Input, type VerbInput } from '../doors/input.js';
import { Verb } from '../doors/verb.decorator.js';
import { AssemblyPreview } from './assembly-preview.service.js';
import { assemblyVerb } from './assembly.verbs.js';

@Controller()
export class AssemblyController {
  constructor(private readonly preview: AssemblyPreview) {}

  @Verb(assemblyVerb)
  assemble(@CallerOf() caller: MemberCaller, @Input() input: VerbInput): Promise<object> {
    return this.preview.show(caller, input);
  }
}
