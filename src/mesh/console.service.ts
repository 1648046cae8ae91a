import { Injectable } from '@nestjs/common';
import { AnnouncementDirectory, type AnnouncementRecord } from '../announcement/announcement-directory.js';
import type { AccountId } from '../db/account-id.js';
import { Database } from '../db/database.js';
import { JsonText } from '../db/json-text.js';
import type { VerbInput } from '../doors/input.js';
import { paginationOf } from '../doors/page.js';
import { Refusal, refuse } from '../errors/refusal.js';
import { addressText, type MeshAddress } from '../kernel/mesh-address.js';
import { type Addressed, MeshAddresses } from '../routing/mesh-addresses.js';
import { consolePage, describedAddress, toolsRequest } from './console-request.js';
import { describedTool } from './described-tool.js';
import type { AnsweringService, Assignment, Fleet } from './fleet.js';
import { notAnsweringJson } from './fleet-json.js';
import { Fleets } from './fleet.service.js';
import { type ConsoleToolRow, readConsoleTools, readReachable } from './reachable.sql.js';

/** Who looks: a member on any door, or the principal of a run whose model does. */
export interface ConsoleViewer {
  readonly accountId: AccountId;
  readonly memberId: string;
  readonly kind: 'human' | 'agent';
}

type Asked = Pick<VerbInput, 'field'>;

/** A page of tools ends early at this many characters; it has one row at least. */
const PAGE_CHARACTERS = 256 * 1024;

/**
 * Four of the console's five tools (chapter 8), alike on every door; the fifth is an ordinary call. Invariant: they show what
 * answers and what the viewer is eligible for, no more.
 */
@Injectable()
export class MeshConsole {
  constructor(
    private readonly fleets: Fleets,
    private readonly addresses: MeshAddresses,
    private readonly announcements: AnnouncementDirectory,
    private readonly database: Database,
  ) {}

  /** `{asked_at, machines, not_answering, pagination}`: what answers on each machine, and what should. */
  async machines(viewer: ConsoleViewer, asked: Asked): Promise<object> {
    const { limit, after = '' } = consolePage(asked);
    const { fleet, services, notAnswering, reachable } = await this.shown(viewer);
    const names = [...new Set(services.map(({ machine }) => machine))].sort().filter((name) => name > after);
    const shown = names.slice(0, limit);
    return {
      asked_at: fleet.askedAt,
      machines: shown.map((machine) => ({
        machine,
        services: services
          .filter((service) => service.machine === machine)
          .map(({ name, id, assignment, endpoints }) => ({
            name,
            id,
            executor_public_id: assignment?.executorId ?? null,
            display_name: reachable.get(assignment?.executorId ?? '') ?? null,
            tools: endpoints.length,
            state: 'answering',
          })),
      })),
      not_answering: notAnswering.map(notAnsweringJson),
      pagination: paginationOf(shown.at(-1), shown.length < names.length),
    };
  }

  /** `{asked_at, services, pagination}`: modules and seats with their instances. */
  async services(viewer: ConsoleViewer, asked: Asked): Promise<object> {
    const { limit, after = '' } = consolePage(asked);
    const { fleet, services, notAnswering } = await this.shown(viewer);
    const all = [...services.map(({ name }) => name), ...notAnswering.map(({ module }) => module)];
    const names = [...new Set(all)].sort().filter((name) => name > after);
    const shown = names.slice(0, limit);
    return {
      asked_at: fleet.askedAt,
      services: shown.map((name) => {
        const answering = services.filter((service) => service.name === name);
        const silent = notAnswering.filter(({ module }) => module === name);
        const record = answering[0]?.assignment ?? silent[0];
        return {
          name,
          seat: record ? null : name.replace(/^nexus-/, ''),
          interchangeable: record?.interchangeable ?? true,
          instances: [
            ...answering.map(({ machine, id, assignment }) => ({
              machine,
              id,
              executor_public_id: assignment?.executorId ?? null,
              state: 'answering',
            })),
            ...silent.map(({ machine, executorId }) => ({
              machine,
              id: null,
              executor_public_id: executorId,
              state: 'not_answering',
            })),
          ],
        };
      }),
      pagination: paginationOf(shown.at(-1), shown.length < names.length),
    };
  }

  /** `{tools, pagination}`: tools that answer, by words, each with its address; in the order of addresses. */
  async tools(viewer: ConsoleViewer, asked: Asked): Promise<object> {
    const { limit, after, words } = toolsRequest(asked);
    const { services } = await this.fleets.ask(viewer.accountId);
    const pairs = services.flatMap(({ assignment }) => assignment ?? []);
    const rows = await this.database.rows(
      readConsoleTools,
      viewer.accountId,
      viewer.memberId,
      pairs.map(({ executorId }) => executorId),
      pairs.map(({ module }) => module),
      words,
      after?.module ?? '',
      after?.machine ?? '',
      after?.toolName ?? '',
      limit + 1,
    );
    const tools = cut(rows.slice(0, limit));
    const last = rows[tools.length - 1];
    return {
      tools: tools.map(toolJson),
      pagination: paginationOf(last && addressOf(last), tools.length < rows.length),
    };
  }

  /**
   * `{tool}`: all that its executor announced of it, and its instances. Throws `not_found` for an address that means nothing
   * to the viewer, `ambiguous_address` and `invalid_tool_route`.
   */
  async describe(viewer: ConsoleViewer, asked: Asked): Promise<object> {
    const address = describedAddress(asked);
    const { instance, executors } = await this.find(viewer, address);
    const announcements = await Promise.all(executors.map(({ id }) => this.announcements.get(id)));
    const known = announcements.flatMap((announcement): AnnouncementRecord[] =>
      announcement?.tools.has(address.toolName) ? [announcement] : [],
    );
    const tool = describedTool(address.toolName, known, instance.to === 'tool_provider', viewer.kind);
    if (!tool) throw refuse('not_found');
    const { services } = await this.fleets.ask(viewer.accountId);
    const answering = new Set(
      services.flatMap(({ name, assignment }) =>
        name === address.module && assignment ? [assignment.executorId] : [],
      ),
    );
    return {
      tool: {
        address: addressText(address),
        module: address.module,
        ...tool,
        instances: executors.map(({ id, machine, display_name }) => ({
          machine,
          executor_public_id: id,
          display_name,
          state: answering.has(id) ? 'answering' : 'not_answering',
        })),
      },
    };
  }

  private async find(viewer: ConsoleViewer, address: MeshAddress): Promise<Addressed> {
    const { accountId, memberId } = viewer;
    const reader = { accountId, principalId: memberId, callerId: memberId };
    try {
      return await this.addresses.find(this.database, reader, address, 'address');
    } catch (fault) {
      const isHidden =
        fault instanceof Refusal &&
        (fault.code === 'runner_not_eligible' || fault.code === 'tool_not_served');
      throw isHidden ? refuse('not_found') : fault;
    }
  }

  /** What the viewer is shown of the fleet: seats, and what they are eligible for. */
  private async shown({ accountId, memberId }: ConsoleViewer): Promise<{
    readonly fleet: Fleet;
    readonly services: readonly AnsweringService[];
    readonly notAnswering: readonly Assignment[];
    readonly reachable: ReadonlyMap<string, string>;
  }> {
    const fleet = await this.fleets.ask(accountId);
    const rows = await this.database.rows(readReachable, accountId, memberId);
    const reachable = new Map(rows.map(({ id, display_name }) => [id, display_name]));
    const isShown = (assignment: Assignment | null): boolean =>
      assignment === null || reachable.has(assignment.executorId);
    return {
      fleet,
      services: fleet.services.filter(({ assignment }) => isShown(assignment)),
      notAnswering: fleet.notAnswering.filter(isShown),
      reachable,
    };
  }
}

const addressOf = ({ module, machine, name }: ConsoleToolRow): string =>
  addressText({ module, machine: machine ?? undefined, toolName: name });

const toolJson = (row: ConsoleToolRow): object => ({
  address: addressOf(row),
  module: row.module,
  machine: row.machine,
  name: row.name,
  description: row.description ?? undefined,
  effect_profile: row.effect_profile_text === null ? undefined : new JsonText(row.effect_profile_text),
  interchangeable: row.machine === null,
});

/** As many rows as fit on a page. */
function cut(rows: readonly ConsoleToolRow[]): ConsoleToolRow[] {
  let characters = 0;
  const end = rows.findIndex(({ description }, index) => {
    characters += 400 + (description?.length ?? 0);
    return index > 0 && characters > PAGE_CHARACTERS;
  });
  return end === -1 ? [...rows] : rows.slice(0, end);
}
