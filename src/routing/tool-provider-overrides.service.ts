import { Injectable } from '@nestjs/common';
import type { AccountId } from '../db/account-id.js';
import { Database } from '../db/database.js';
import { statement } from '../db/statement.js';
import type { PlatformCaller } from '../doors/caller.js';
import type { VerbInput } from '../doors/input.js';
import { refuse } from '../errors/refusal.js';
import { recordAudit } from '../identity/audit.js';
import { isOverridable, OVERRIDABLE_NAMES } from '../kernel/reserved-names.js';

interface OverridesRow {
  readonly overrides: string[];
}

const readOverrides = statement<[AccountId], OverridesRow>(
  'overrides_read',
  `select tool_provider_overrides as overrides from accounts where id = $1`,
);

const replaceOverrides = statement<[AccountId, overrides: readonly string[]], OverridesRow>(
  'overrides_replace',
  `with changed as (
     update accounts set tool_provider_overrides = $2::text[] where id = $1 returning tool_provider_overrides
   )
   select tool_provider_overrides as overrides from changed`,
);

/**
 * Owns which of the kernel's names an account gives to its tool providers (chapter 5, Where it goes). Invariant: only
 * overridable names, replaced whole; acceptance reads them in its own statement, so a replacement holds for the next call.
 */
@Injectable()
export class ToolProviderOverrides {
  constructor(private readonly database: Database) {}

  async read({ accountId }: PlatformCaller): Promise<object> {
    return { overrides: (await this.database.row(readOverrides, accountId))?.overrides ?? [] };
  }

  /** `{overrides}`, each name once. Throws `parameter_missing`, and `validation_failed` for any other name. */
  async replace({ accountId, memberId: actorId }: PlatformCaller, input: VerbInput): Promise<object> {
    const overrides = readNames(input.body.object['overrides']);
    await this.database.transaction(async (sql) => {
      await sql.rows(replaceOverrides, accountId, overrides);
      const change = { action: 'tool_provider_overrides.changed', detail: { overrides } };
      await recordAudit(sql, { accountId, actorId, subjectId: accountId, ...change });
    });
    return { overrides };
  }
}

function readNames(value: unknown): string[] {
  if (value === undefined) throw refuse('parameter_missing', 'overrides is required');
  if (!Array.isArray(value)) throw refuse('validation_failed', 'overrides must be a list of names');
  for (const [index, name] of (value as unknown[]).entries()) {
    const path = `overrides[${index}]`;
    if (!isOverridable(name))
      throw refuse('validation_failed', `${path} must be one of ${OVERRIDABLE_NAMES.join(', ')}`);
    if (value.indexOf(name) < index) throw refuse('validation_failed', `${path} repeats ${name}`);
  }
  return value as string[];
}
