import { Injectable } from '@nestjs/common';
import { Database } from '../db/database.js';
import { newId } from '../db/ids.js';
import type { Sql } from '../db/statement.js';
import { Answer } from '../doors/answer.js';
import type { MemberCaller } from '../doors/caller.js';
import { Idempotency } from '../doors/idempotency.js';
import type { VerbInput } from '../doors/input.js';
import type { VerbDeclaration } from '../doors/verb.js';
import { refuse } from '../errors/refusal.js';
import { isUuid } from '../kernel/names.js';
import {
  conversationJson,
  type ConversationRow,
  createConversation,
  readConversation,
  setDefaultRunner,
} from './conversation.sql.js';
import { readId } from './run-request.js';
import { sees, type Viewer, viewerOf } from './viewer.js';

/**
 * Owns conversations: what holds runs together, and a default runner for those to come (chapter 5, Hosts). Invariant: a
 * default was eligible when it was set; setting it never moves accepted work.
 */
@Injectable()
export class Conversations {
  constructor(
    private readonly database: Database,
    private readonly idempotency: Idempotency,
  ) {}

  /** `{conversation}` of the caller. Throws `runner_not_eligible`. */
  async create(verb: VerbDeclaration, caller: MemberCaller, input: VerbInput): Promise<Answer> {
    const runnerId = readId(input.body.object, 'default_runner_executor_public_id') ?? null;
    const { accountId, credentialId, memberId } = caller;
    return this.idempotency.once(verb, caller, input, async (sql) => {
      const row = await sql.row(createConversation, accountId, credentialId, memberId, newId(), runnerId);
      if (!row)
        throw runnerId === null ? refuse('unauthorized') : notEligible('default_runner_executor_public_id');
      return new Answer(conversationJson(row), 201);
    });
  }

  async one(viewer: Viewer, id: unknown): Promise<object> {
    return conversationJson(await this.seenBy(viewer, id));
  }

  /** `{conversation}` with the new default; null is none. Throws `parameter_missing` and `runner_not_eligible`. */
  async replaceDefaultRunner(caller: MemberCaller, input: VerbInput): Promise<object> {
    const field = 'runner_executor_public_id';
    const { id } = await this.seenBy(viewerOf(caller), input.field('public_id'));
    const runnerId = readId(input.body.object, field);
    if (runnerId === undefined) throw refuse('parameter_missing', `${field} is required; null is no default`);
    const row = await this.database.row(setDefaultRunner, caller.accountId, id, caller.memberId, runnerId);
    if (!row) throw notEligible(field);
    return conversationJson(row);
  }

  /** The conversation as far as this viewer may know; else `not_found`. */
  async seenBy(viewer: Viewer, id: unknown, sql: Sql = this.database): Promise<ConversationRow> {
    const row = isUuid(id) ? await sql.row(readConversation, viewer.accountId, id) : undefined;
    const owned = row && {
      accountId: row.account_id,
      principalId: row.principal_id,
      stewardId: row.steward_id,
    };
    if (!row || !owned || !sees(viewer, owned)) throw refuse('not_found');
    return row;
  }

  /** A conversation that the caller may make runs in: their own. */
  async ownedBy(sql: Sql, caller: MemberCaller, id: string): Promise<ConversationRow> {
    const row = await this.seenBy(viewerOf(caller), id, sql);
    if (row.principal_id !== caller.memberId) throw refuse('not_found');
    return row;
  }
}

const notEligible = (field: string): Error =>
  refuse('runner_not_eligible', `${field} names no runner that is eligible for this member`);
