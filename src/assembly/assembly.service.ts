import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { AnnouncementDirectory } from '../announcement/announcement-directory.js';
import { Database } from '../db/database.js';
import type { Sql } from '../db/statement.js';
import type { MemberCaller } from '../doors/caller.js';
import { assemble, type EligibleRunner, namedRunnerIds } from './assemble.js';
import type { Configuration } from './configuration.js';
import { readConfiguration } from './configuration-grammar.js';
import type { Assembled } from './declaration.js';
import { eligibleRunners } from './eligible-runners.sql.js';
import { Profiles } from './profile.service.js';

export type { Assembled } from './declaration.js';

/** Characters of declarations that a node keeps assembled. */
const ASSEMBLED_CHARACTERS = 32 * 1024 * 1024;
/** What a declaration weighs beside its texts. */
const DECLARATION_CHARACTERS = 512;

export interface AssemblyRequest {
  /** The selected runner's public id, or null for none. */
  readonly defaultRunnerId: string | null;
  /** The JSON text of an object that replaces the profile for this call. */
  readonly configuration?: { readonly text: string } | undefined;
  /** The transaction whose view of eligibility counts. */
  readonly sql?: Sql;
}

/**
 * Assembles what a new run of a member receives (chapter 4). Invariant: the preview and the frozen declaration come from
 * here. Eligibility is asked of the database every time; what follows from it, from the configuration and from the
 * versions of the announcements is remembered.
 */
@Injectable()
export class AssemblyService {
  private readonly assembled = new LRUCache<string, Assembled>({
    maxSize: ASSEMBLED_CHARACTERS,
    sizeCalculation: ({ toolDefinitions, environment }) =>
      DECLARATION_CHARACTERS + toolDefinitions.text.length + environment.text.length,
  });

  constructor(
    private readonly database: Database,
    private readonly announcements: AnnouncementDirectory,
    private readonly profiles: Profiles,
  ) {}

  /** Throws the refusals of the grammar and of `assemble`. */
  async assemble(caller: MemberCaller, request: AssemblyRequest): Promise<Assembled> {
    const { defaultRunnerId, sql = this.database } = request;
    const configuration = await this.configurationOf(caller, request);
    const namesCandidates = caller.kind === 'agent' || request.configuration !== undefined;
    const runners = await this.eligibleOf(caller, namedRunnerIds(configuration, defaultRunnerId), sql);
    const versions = runners.map(({ id, displayName, announcement }) => [
      id,
      displayName,
      announcement?.version,
    ]);
    const key = JSON.stringify([configuration.digest, defaultRunnerId, namesCandidates, versions]);
    const known = this.assembled.get(key);
    if (known) return known;
    const eligible = new Map(runners.map((runner) => [runner.id, runner]));
    const assembled = assemble({ configuration, defaultRunnerId, namesCandidates, eligible });
    this.assembled.set(key, assembled);
    return assembled;
  }

  private async configurationOf(caller: MemberCaller, request: AssemblyRequest): Promise<Configuration> {
    if (request.configuration) return readConfiguration(request.configuration.text, 'configuration');
    return (await this.profiles.get(caller)).configuration;
  }

  /** The eligible ones of these runners, in the order of the ids. */
  private async eligibleOf(
    caller: MemberCaller,
    ids: readonly string[],
    sql: Sql,
  ): Promise<EligibleRunner[]> {
    if (ids.length === 0) return [];
    const rows = await sql.rows(eligibleRunners, caller.accountId, caller.memberId, ids);
    const names = new Map(rows.map((row) => [row.id, row.display_name]));
    const runners = ids.map(async (id): Promise<EligibleRunner[]> => {
      const displayName = names.get(id);
      return displayName === undefined
        ? []
        : [{ id, displayName, announcement: await this.announcements.get(id) }];
    });
    return (await Promise.all(runners)).flat();
  }
}
