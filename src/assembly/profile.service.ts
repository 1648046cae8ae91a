import { Injectable } from '@nestjs/common';
import { NodeEvents } from '../bus/node-events.js';
import { Database } from '../db/database.js';
import { JsonText } from '../db/json-text.js';
import type { MemberCaller } from '../doors/caller.js';
import { refuse } from '../errors/refusal.js';
import { VersionedCache } from '../identity/versioned-cache.js';
import type { ApprovalMode } from './approval-mode.js';
import type { Configuration } from './configuration.js';
import { readConfiguration } from './configuration-grammar.js';
import { type ProfileRow, readProfile, replaceConfiguration } from './profile.sql.js';

/** A member's profile (chapter 4), remembered until its `member` event. */
export class Profile {
  private parsed: Configuration | undefined;

  constructor(private readonly row: ProfileRow) {}

  /** What an agent's runs receive unless they name another; a human's is empty. Throws where it breaks the grammar. */
  get configuration(): Configuration {
    return (this.parsed ??= readConfiguration(this.row.configuration_text, 'configuration'));
  }

  /** The floor of an agent's runs; a human has none (chapter 6). */
  get approvalFloor(): ApprovalMode | null {
    return this.row.approval_floor;
  }

  /** `{member}`, and an agent's `configuration` exactly as it was sent. */
  get json(): object {
    const { id, kind, display_name, role, steward_id, approval_floor, created_at } = this.row;
    if (kind === 'human') return { member: { public_id: id, kind, display_name, role, created_at } };
    const approval_rules = new JsonText(this.row.approval_rules_text);
    return {
      member: {
        public_id: id,
        kind,
        display_name,
        steward_public_id: steward_id,
        approval_floor,
        approval_rules,
        created_at,
      },
      configuration: new JsonText(this.row.configuration_text),
    };
  }
}

/**
 * Owns the profiles of members: who the caller is, and what an agent's runs receive. Invariant: a stored configuration
 * keeps the grammar and, when it was stored, the agent's floor.
 */
@Injectable()
export class Profiles {
  private readonly cache: VersionedCache<Profile>;

  constructor(
    private readonly database: Database,
    private readonly events: NodeEvents,
  ) {
    this.cache = new VersionedCache(events, 2_000, ['member']);
  }

  async get({ accountId, memberId }: Pick<MemberCaller, 'accountId' | 'memberId'>): Promise<Profile> {
    const profile = await this.cache.get(memberId, async () => {
      const row = await this.database.row(readProfile, accountId, memberId);
      return row && new Profile(row);
    });
    if (!profile) throw refuse('unauthorized');
    return profile;
  }

  /**
   * Replaces an agent's configuration by this JSON text, stored verbatim. Throws `not_agent` for a human, the grammar's
   * refusals, and `approval_floor` for a mode that is looser than the floor.
   */
  async replace(caller: MemberCaller, text: string): Promise<Profile> {
    if (caller.kind !== 'agent') throw refuse('not_agent');
    const { approvalMode = null } = readConfiguration(text);
    const row = await this.database.row(
      replaceConfiguration,
      caller.accountId,
      caller.memberId,
      text,
      approvalMode,
    );
    if (!row) throw refuse('approval_floor', 'approval_mode is looser than the floor set for the agent');
    await this.events.announce('member', { id: caller.memberId });
    return new Profile(row);
  }
}
