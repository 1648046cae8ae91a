import { Controller } from '@nestjs/common';
import { Answer } from '../doors/answer.js';
import { CallerOf, type MemberCaller } from '../doors/caller.js';
import { Input, requiredText, type VerbInput } from '../doors/input.js';
import { Verb } from '../doors/verb.decorator.js';
import { KERNEL_TOOLS } from '../kernel/catalogue.js';
import { discoveryRequest } from './discovery-request.js';
import { DiscoveryService } from './discovery.service.js';
import { discoverExecutorsVerb, discoverExecutorVerb, kernelToolsVerb } from './discovery.verbs.js';

@Controller()
export class DiscoveryController {
  constructor(private readonly discovery: DiscoveryService) {}

  @Verb(discoverExecutorsVerb)
  list(@CallerOf() caller: MemberCaller, @Input() input: VerbInput): Promise<Answer> {
    return this.discovery.list(caller, discoveryRequest(input), input.header('if-none-match'));
  }

  @Verb(discoverExecutorVerb)
  get(@CallerOf() caller: MemberCaller, @Input() input: VerbInput): Promise<Answer> {
    return this.discovery.get(caller, requiredText(input, 'public_id'), input.header('if-none-match'));
  }

  @Verb(kernelToolsVerb)
  kernelTools(): object {
    return { tools: KERNEL_TOOLS };
  }
}
