import { Injectable } from '@nestjs/common';
import type { MemberCaller } from '../doors/caller.js';
import type { VerbInput } from '../doors/input.js';
import { refuse } from '../errors/refusal.js';
import { AssemblyService } from './assembly.service.js';
import { readAssemblyRequest, readFormat } from './assembly-request.js';
import { providerTools } from './provider-format.js';

/** Shows an agent what a new run would receive (chapter 4). Read-only; a human is refused `not_agent`. */
@Injectable()
export class AssemblyPreview {
  constructor(private readonly assembly: AssemblyService) {}

  /** `{tool_definitions, environment}`, and `provider_tools` where the query names a format. */
  async show(caller: MemberCaller, input: VerbInput): Promise<object> {
    if (caller.kind !== 'agent') throw refuse('not_agent');
    const format = readFormat(input);
    const { toolDefinitions, environment } = await this.assembly.assemble(caller, readAssemblyRequest(input));
    const shown = { tool_definitions: toolDefinitions, environment };
    return format === undefined
      ? shown
      : { ...shown, provider_tools: providerTools(toolDefinitions, format) };
  }
}
