import { Injectable } from '@nestjs/common';
import { Database } from '../db/database.js';
import { type VerbInput, requiredText } from '../doors/input.js';
import { refuse } from '../errors/refusal.js';
import { isUuid } from '../kernel/names.js';
import { Conversations } from '../routing/conversations.service.js';
import type { Viewer } from '../routing/viewer.js';
import { readFirstWritesFrom, readRunsFrom } from './first-writes.sql.js';
import { projectEffects } from './runner-effects.js';

/** What a conversation may have done to runners since one of its runs (chapter 7, Evidence). Reads only. */
@Injectable()
export class ConversationEffects {
  constructor(
    private readonly database: Database,
    private readonly conversations: Conversations,
  ) {}

  /** `{runner_effects}`. Throws `parameter_missing` without `from_run`, `not_found` for one that is not of it. */
  async since(viewer: Viewer, input: VerbInput): Promise<object> {
    const { id, account_id } = await this.conversations.seenBy(viewer, input.field('public_id'));
    const fromRun = requiredText(input, 'from_run');
    const runs = isUuid(fromRun) ? await this.database.row(readRunsFrom, account_id, id, fromRun) : undefined;
    if (!runs?.is_there) throw refuse('not_found');
    const rows = await this.database.rows(readFirstWritesFrom, account_id, id, fromRun);
    return { runner_effects: projectEffects(rows, runs.is_pruned) };
  }
}
