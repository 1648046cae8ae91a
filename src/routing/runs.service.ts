import { Injectable } from '@nestjs/common';
import type { AccountId } from '../db/account-id.js';
import { Database } from '../db/database.js';
import type { Sql } from '../db/statement.js';
import type { VerbInput } from '../doors/input.js';
import { pageRequest, paginationOf } from '../doors/page.js';
import { refuse } from '../errors/refusal.js';
import { isUuid } from '../kernel/names.js';
import { DeclarationStore } from './declaration-store.js';
import { readRun, readRunsOfAccount, readRunsOfMember } from './read-runs.sql.js';
import { RunDirectory } from './run-directory.js';
import { RunEffects } from './run-effects.js';
import { runJson, type RunRow } from './run-row.js';
import type { Viewer } from './viewer.js';

/** A page ends early when its declarations reach this many characters; it has one run at least. */
const PAGE_CHARACTERS = 4 * 1024 * 1024;

/** Shows runs to those who see them (chapter 5). Reads only. */
@Injectable()
export class Runs {
  constructor(
    private readonly database: Database,
    private readonly directory: RunDirectory,
    private readonly declarations: DeclarationStore,
    private readonly effects: RunEffects,
  ) {}

  /** `{run}`; `not_found` for whoever does not see it. */
  async one(viewer: Viewer, id: unknown): Promise<object> {
    const run = await this.directory.seenBy(viewer, id);
    return this.show(this.database, run.accountId, run.id);
  }

  /** `{run}`, with no question asked; within the transaction that made or changed it. */
  async show(sql: Sql, accountId: AccountId, id: string): Promise<object> {
    const row = await sql.row(readRun, accountId, id);
    if (!row) throw refuse('not_found');
    const [run] = await this.present(sql, accountId, [row]);
    return { run };
  }

  /** `{runs, pagination}`, newest first: what the viewer would be shown one by one. */
  async page(viewer: Viewer, input: VerbInput): Promise<object> {
    const { limit, after = null } = pageRequest(input, isUuid);
    const { accountId, memberId, isAdmin } = viewer;
    const rows = isAdmin
      ? await this.database.rows(readRunsOfAccount, accountId, after, limit + 1)
      : await this.database.rows(readRunsOfMember, accountId, memberId, after, limit + 1);
    const runs = await this.present(this.database, accountId, rows.slice(0, limit));
    return { runs, pagination: paginationOf(rows[runs.length - 1]?.id, runs.length < rows.length) };
  }

  /** The rows as they are answered, as many as fit. */
  private async present(sql: Sql, accountId: AccountId, rows: readonly RunRow[]): Promise<object[]> {
    const digests = rows.flatMap(({ declaration_digest }) => declaration_digest ?? []);
    const declarations = await this.declarations.all(accountId, digests, sql);
    const effects = await this.effects.ofRuns(sql, accountId, rows);
    const shown: object[] = [];
    let characters = 0;
    for (const row of rows) {
      const declaration = declarations.get(row.declaration_digest?.toString('hex') ?? '');
      characters += declaration
        ? declaration.toolDefinitions.text.length + declaration.environment.text.length
        : 0;
      if (shown.length > 0 && characters > PAGE_CHARACTERS) break;
      shown.push(runJson(row, declaration, effects.get(row.id)));
    }
    return shown;
  }
}
