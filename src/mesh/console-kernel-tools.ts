import { Injectable } from '@nestjs/common';
import { Database } from '../db/database.js';
import { writeJson } from '../db/json-text.js';
import type { VerbInput } from '../doors/input.js';
import { readMember } from '../identity/member.sql.js';
import { kernelResult } from '../routing/kernel-calls.js';
import { KernelWork } from '../routing/kernel-work.js';
import { type ConsoleViewer, MeshConsole } from './console.service.js';

type Read = (viewer: ConsoleViewer, asked: Pick<VerbInput, 'field'>) => Promise<object>;

/** The console as kernel tools: a model sees what the principal of its run would. */
@Injectable()
export class ConsoleKernelTools {
  constructor(
    private readonly database: Database,
    kernelWork: KernelWork,
    meshConsole: MeshConsole,
  ) {
    const tools: Readonly<Record<string, Read>> = {
      mesh_machines: (viewer, asked) => meshConsole.machines(viewer, asked),
      mesh_services: (viewer, asked) => meshConsole.services(viewer, asked),
      mesh_tools: (viewer, asked) => meshConsole.tools(viewer, asked),
      mesh_describe: (viewer, asked) => meshConsole.describe(viewer, asked),
    };
    for (const [name, read] of Object.entries(tools)) {
      kernelWork.serve(name, async ({ accountId, memberId }, input) => {
        const member = await this.database.row(readMember, accountId, memberId);
        if (!member) return { fault: 'the principal of the run is gone' };
        const viewer = { accountId, memberId, kind: member.kind };
        const field = (key: string): unknown => (Object.hasOwn(input, key) ? input[key] : undefined);
        return kernelResult(writeJson(await read(viewer, { field })));
      });
    }
  }
}
