import type { AccountId } from '../db/account-id.js';
import { statement } from '../db/statement.js';

/** A module's record (chapter 8). */
export interface ModuleRow {
  readonly name: string;
  readonly declares_tools: boolean;
  readonly interchangeable: boolean;
}

const COLUMNS = 'name, declares_tools, interchangeable';

/** The first page begins behind the empty name. */
export const readModules = statement<[AccountId, after: string, limit: number], ModuleRow>(
  'module_page',
  `select ${COLUMNS} from modules where account_id = $1 and name > $2 order by name limit $3`,
);

/** No row where the name is taken. */
export const insertModule = statement<
  [AccountId, name: string, declaresTools: boolean, interchangeable: boolean],
  ModuleRow
>(
  'module_insert',
  `insert into modules (account_id, name, declares_tools, interchangeable) values ($1, $2, $3, $4)
   on conflict do nothing returning ${COLUMNS}`,
);

/**
 * Changes what is given and leaves the rest; no row where there is no such module, or where it would become interchangeable
 * while somebody else than tool providers is assigned to it. The account's lock keeps registrations away meanwhile.
 */
export const changeModule = statement<
  [AccountId, name: string, declaresTools: boolean | null, interchangeable: boolean | null],
  ModuleRow
>(
  'module_change',
  `update modules o
   set declares_tools = coalesce($3, declares_tools), interchangeable = coalesce($4, interchangeable)
   where account_id = $1 and name = $2 and ($4 is not true or not exists (
     select from assignments s join executors e on e.id = s.executor_id
     where s.account_id = o.account_id and s.module = o.name and e.kind <> 'tool_provider'))
   returning ${COLUMNS}`,
);

export const readModule = statement<[AccountId, name: string], ModuleRow>(
  'module_read',
  `select ${COLUMNS} from modules where account_id = $1 and name = $2`,
);
