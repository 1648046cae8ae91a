import { Injectable } from '@nestjs/common';
import { Database } from '../db/database.js';
import { Answer } from '../doors/answer.js';
import type { PlatformCaller } from '../doors/caller.js';
import { Idempotency } from '../doors/idempotency.js';
import { requiredText, type VerbInput } from '../doors/input.js';
import { pageRequest, paginationOf } from '../doors/page.js';
import { refuse } from '../errors/refusal.js';
import { recordAudit } from '../identity/audit.js';
import { lockAccount } from '../identity/locks.sql.js';
import { isModuleName } from '../kernel/names.js';
import type { ModuleChangeFields, ModuleFields } from './module.fields.js';
import { changeModule, insertModule, readModule, readModules } from './modules.sql.js';
import { createModuleVerb } from './modules.verbs.js';

/**
 * Owns the records of modules (chapter 8). Invariant: nobody but tool providers is assigned to an interchangeable module;
 * registrations and changes act one at a time in an account.
 */
@Injectable()
export class Modules {
  constructor(
    private readonly database: Database,
    private readonly idempotency: Idempotency,
  ) {}

  async list({ accountId }: PlatformCaller, input: VerbInput): Promise<object> {
    const { limit, after = '' } = pageRequest(input, isModuleName);
    const rows = await this.database.rows(readModules, accountId, after, limit + 1);
    const modules = rows.slice(0, limit);
    return { modules, pagination: paginationOf(modules.at(-1)?.name, rows.length > limit) };
  }

  /** `201 {module}`. Throws `module_taken`. */
  create(caller: PlatformCaller, input: VerbInput, fields: ModuleFields): Promise<Answer> {
    const { accountId, memberId: actorId } = caller;
    const declaresTools = fields.declares_tools ?? true;
    const interchangeable = fields.interchangeable ?? false;
    return this.idempotency.once(createModuleVerb, caller, input, async (sql) => {
      await sql.row(lockAccount, accountId);
      const module = await sql.row(insertModule, accountId, fields.name, declaresTools, interchangeable);
      if (!module) throw refuse('module_taken');
      const change = { action: 'module.created', subjectId: null, detail: { ...module } };
      await recordAudit(sql, { accountId, actorId, ...change });
      return new Answer({ module }, 201);
    });
  }

  /**
   * `{module}`. Throws `not_found`, and `validation_failed` where it would become interchangeable under runners or
   * applications.
   */
  async change(
    { accountId, memberId: actorId }: PlatformCaller,
    input: VerbInput,
    fields: ModuleChangeFields,
  ): Promise<object> {
    const name = requiredText(input, 'name');
    if (!isModuleName(name)) throw refuse('not_found');
    const declaresTools = fields.declares_tools ?? null;
    const interchangeable = fields.interchangeable ?? null;
    const module = await this.database.transaction(async (sql) => {
      await sql.row(lockAccount, accountId);
      const changed = await sql.row(changeModule, accountId, name, declaresTools, interchangeable);
      if (!changed) {
        if (!(await sql.row(readModule, accountId, name))) throw refuse('not_found');
        throw refuse(
          'validation_failed',
          `interchangeable must be false while others than providers serve ${name}`,
        );
      }
      const change = { action: 'module.changed', subjectId: null, detail: { ...changed } };
      await recordAudit(sql, { accountId, actorId, ...change });
      return changed;
    });
    return { module };
  }
}
