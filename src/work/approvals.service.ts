import { Injectable } from '@nestjs/common';
import { Database } from '../db/database.js';
import type { MemberCaller, PlatformCaller } from '../doors/caller.js';
import type { VerbInput } from '../doors/input.js';
import { pageRequest, paginationOf } from '../doors/page.js';
import { taskJson } from '../routing/task-row.js';
import { viewerOf } from '../routing/viewer.js';
import { readRestingOfAccount, readRestingOfHuman, type RestingRow } from './approvals.sql.js';

/** Lists the calls that a caller may decide about (chapter 6, Adjudication). Reads only. */
@Injectable()
export class Approvals {
  constructor(private readonly database: Database) {}

  /** `{tasks, pagination}`, in order of acceptance; an agent decides nothing. Throws `parameter_invalid`. */
  async page(caller: MemberCaller | PlatformCaller, input: VerbInput): Promise<object> {
    const { limit, after = '0' } = pageRequest(input, isSequence);
    const rows = await this.resting(caller, after, limit + 1);
    const last = rows.at(-1);
    return { tasks: rows.map(taskJson), pagination: paginationOf(last?.seq, last?.has_more ?? false) };
  }

  private async resting(
    caller: MemberCaller | PlatformCaller,
    after: string,
    limit: number,
  ): Promise<RestingRow[]> {
    if (caller.plane === 'member' && caller.kind === 'agent') return [];
    const { accountId, memberId, isAdmin } = viewerOf(caller);
    return isAdmin
      ? this.database.rows(readRestingOfAccount, accountId, after, limit)
      : this.database.rows(readRestingOfHuman, accountId, after, limit, memberId);
  }
}

const isSequence = (key: unknown): key is string => typeof key === 'string' && /^\d{1,18}$/.test(key);
