import { Controller } from '@nestjs/common';
import { CallerOf, type MemberCaller } from '../doors/caller.js';
import { Input, type VerbInput } from '../doors/input.js';
import { Verb } from '../doors/verb.decorator.js';
import { Calls } from '../routing/call.service.js';
import { MeshConsole } from './console.service.js';
import {
  meshCallVerb,
  meshDescribeVerb,
  meshMachinesVerb,
  meshServicesVerb,
  meshToolsVerb,
} from './console.verbs.js';

/** The seat `console` on REST and on the bus, whose verb `call` is that of every member. */
@Controller()
export class ConsoleController {
  constructor(
    private readonly meshConsole: MeshConsole,
    private readonly calls: Calls,
  ) {}

  @Verb(meshMachinesVerb)
  machines(@CallerOf() caller: MemberCaller, @Input() input: VerbInput): Promise<object> {
    return this.meshConsole.machines(caller, input);
  }

  @Verb(meshServicesVerb)
  services(@CallerOf() caller: MemberCaller, @Input() input: VerbInput): Promise<object> {
    return this.meshConsole.services(caller, input);
  }

  @Verb(meshToolsVerb)
  tools(@CallerOf() caller: MemberCaller, @Input() input: VerbInput): Promise<object> {
    return this.meshConsole.tools(caller, input);
  }

  @Verb(meshDescribeVerb)
  describe(@CallerOf() caller: MemberCaller, @Input() input: VerbInput): Promise<object> {
    return this.meshConsole.describe(caller, input);
  }

  @Verb(meshCallVerb)
  call(@CallerOf() caller: MemberCaller, @Input() input: VerbInput): Promise<object> {
    return this.calls.callAddress(meshCallVerb, caller, input);
  }
}
