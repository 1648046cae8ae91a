import { Controller } from '@nestjs/common';
import { CallerOf, type PlatformCaller } from '../doors/caller.js';
import { Verb } from '../doors/verb.decorator.js';
import { fleetJson } from './fleet-json.js';
import { Fleets } from './fleet.service.js';
import { readMeshVerb } from './mesh.verbs.js';

@Controller()
export class MeshController {
  constructor(private readonly fleets: Fleets) {}

  @Verb(readMeshVerb)
  async read(@CallerOf() caller: PlatformCaller): Promise<object> {
    return fleetJson(await this.fleets.ask(caller.accountId));
  }
}
