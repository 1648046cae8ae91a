import { Injectable } from '@nestjs/common';
import { JsonText } from '../db/json-text.js';
import { KeyedDatabase } from '../db/keyed-database.js';
import type { ExecutorCaller } from '../doors/caller.js';
import type { VerbInput } from '../doors/input.js';
import { pageRequest, paginationOf } from '../doors/page.js';
import { type InboxRow, readInbox } from './inbox.sql.js';

/** Shows an executor all that waits for it (chapter 6, Inbox): state, not a queue; reading it takes nothing. */
@Injectable()
export class Inbox {
  constructor(private readonly database: KeyedDatabase) {}

  /** `{tasks, pagination}`. Throws `parameter_invalid`. */
  async page(caller: ExecutorCaller, input: VerbInput): Promise<object> {
    const { limit, after } = pageRequest(input, isSeq);
    const { accountId, executorId } = caller;
    const rows = await this.database.rows(readInbox, accountId, executorId, after ?? 0, limit);
    const last = rows.at(-1);
    const isMore = last !== undefined && last.found > rows.length;
    return {
      tasks: rows.map(inboxRowJson),
      pagination: paginationOf(last && Number(last.seq), isMore),
    };
  }
}

const isSeq = (key: unknown): key is number => Number.isSafeInteger(key) && (key as number) >= 0;

function inboxRowJson(row: InboxRow): object {
  return {
    kind: row.kind,
    run_public_id: row.run_id,
    conversation_public_id: row.conversation_id,
    parent_run_public_id: row.parent_run_id,
    task_key: row.task_key,
    tool_name: row.tool_name,
    tool_alias: row.tool_alias ?? undefined,
    tool_input: new JsonText(row.tool_input_text),
    tool_call_id: row.tool_call_id ?? undefined,
    effect_profile: row.kind === 'approval' ? new JsonText(row.effect_profile_text) : undefined,
    started_at: row.started_at,
    deadline_at: row.deadline_at,
    timeout_ms: row.timeout_ms,
    claimed: row.claimed,
    addressed_to: { role: row.addressed_role, executor_public_id: row.addressed_id ?? undefined },
  };
}
