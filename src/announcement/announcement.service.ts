import { Inject, Injectable } from '@nestjs/common';
import { NodeEvents } from '../bus/node-events.js';
import { Subjects } from '../bus/subjects.js';
import { ENV, type Env } from '../config/env.js';
import { Database } from '../db/database.js';
import type { ExecutorCaller } from '../doors/caller.js';
import { refuse } from '../errors/refusal.js';
import { Presence } from '../identity/presence.js';
import { type Announcement, parseAnnouncement } from './announcement-grammar.js';
import { describeExecutor, type ExecutorDescription } from './executor-description.js';
import { operatorNames } from './for-models.js';
import { replaceAnnouncement } from './replace-announcement.sql.js';
import { searchText, toolsSummary } from './tools-summary.js';

/**
 * Replaces what an executor serves (chapter 2). Invariant: all of an announcement is stored, verbatim and at a higher
 * version, or nothing is; every node has been told before it is answered.
 */
@Injectable()
export class AnnouncementService {
  private readonly subjects: Subjects;

  constructor(
    @Inject(ENV) private readonly env: Env,
    private readonly database: Database,
    private readonly presence: Presence,
    private readonly events: NodeEvents,
  ) {
    this.subjects = new Subjects(env.NEXUS_BUS_PREFIX);
  }

  /**
   * `text` is the body as it came. Throws the refusals of chapter 2, and `unauthorized` when the executor was revoked or
   * re-paired while this ran.
   */
  async announce(caller: ExecutorCaller, text: string): Promise<ExecutorDescription> {
    const { tool: toolPrefix } = this.subjects.forExecutor(caller.executorId, caller.epoch);
    const announcement = parseAnnouncement(text, { modules: caller.modules, toolPrefix });
    this.admitDelivery(announcement, caller);
    const row = await this.database.row(
      replaceAnnouncement,
      caller.accountId,
      caller.executorId,
      caller.epoch,
      announcement.tools_text,
      toolsSummary(announcement.tools),
      announcement.tools.map(({ name }) => name),
      operatorNames(announcement, caller.kind),
      announcement.environment_text,
      announcement.documents_text,
      announcement.delivery,
      announcement.max_in_flight,
      searchText(announcement.tools),
      announcement.instance_id,
    );
    if (!row) throw refuse('unauthorized');
    await this.events.announce('executor', { id: caller.executorId });
    return describeExecutor(row, this.presence);
  }

  /** Chapter 8: pools are always `claim`, and on a bus that Nexus does not manage so is everybody. */
  private admitDelivery({ delivery }: Announcement, { kind }: ExecutorCaller): void {
    if (delivery === 'claim') return;
    if (kind === 'tool_provider') {
      throw refuse('invalid_announcement', 'delivery must be claim for a tool_provider');
    }
    if (this.env.NEXUS_BUS_AUTH === 'token') {
      throw refuse('invalid_announcement', 'delivery must be claim while NEXUS_BUS_AUTH is token');
    }
  }
}
