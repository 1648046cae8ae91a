import type { AccountId } from '../db/account-id.js';
import { statement } from '../db/statement.js';
import { mayReach } from './accept-tasks.sql.js';

/** An executor that serves a tool, and in which of its modules. */
export interface AddressedRow {
  readonly id: string;
  readonly kind: 'runner' | 'agent_application' | 'tool_provider';
  readonly display_name: string;
  readonly module: string;
  readonly machine: string;
}

/** SQL: the module of an entry of an announcement (chapter 2): what it says, else the first of the executor's. */
export const moduleOfEntry = (e: string, entry: string): string =>
  `coalesce(${entry} ->> 'module', ${e}.modules[1])`;

/** SQL: the module of a tool. Entries are parsed only where there is a choice. */
const moduleOfTool = (e: string, a: string, toolName: string): string => `
  (case when cardinality(${e}.modules) = 1 then ${e}.modules[1] else (
    select ${moduleOfEntry(e, 'entry')} from json_array_elements(${a}.tools) entry
    where entry ->> 'name' = ${toolName} limit 1) end)`;

/**
 * Who serves a tool that an address may mean, of those whom the principal and the caller may both reach: in the module, and
 * on the machine where one is named. Providers in other modules too, since a pool has one name for all of them. At most
 * `limit`, in the order of machines.
 */
export const readAddressed = statement<
  [
    accountId: AccountId,
    principalId: string,
    callerId: string,
    module: string,
    machine: string | null,
    toolName: string,
    limit: number,
  ],
  AddressedRow
>(
  'address_read',
  `select served.id, served.kind, served.display_name, served.module, served.machine
   from (
     select e.id, e.kind, e.display_name, e.machine, ${moduleOfTool('e', 'a', '$6')} as module
     from announcements a
     join executors e on e.id = a.executor_id and e.status = 'active'
     join members m on m.id = $2 and m.account_id = $1
     join members c on c.id = $3 and c.account_id = $1
     where a.account_id = $1 and a.tool_names @> array[$6::text] and ($5::text is null or e.machine = $5)
       and (e.kind = 'tool_provider' or e.modules @> array[$4::text])
       and ${mayReach('e', 'm', 'c')}
   ) served
   where served.module = $4 or served.kind = 'tool_provider'
   order by served.machine, served.module
   limit $7`,
);

/** Whether somebody is assigned the module on the machine whom the principal and the caller may both reach. */
export const isAssigned = statement<
  [accountId: AccountId, principalId: string, callerId: string, module: string, machine: string],
  { id: string }
>(
  'address_is_assigned',
  `select e.id from assignments s
   join executors e on e.id = s.executor_id
   join members m on m.id = $2 and m.account_id = $1
   join members c on c.id = $3 and c.account_id = $1
   where s.account_id = $1 and s.module = $4 and s.machine = $5 and ${mayReach('e', 'm', 'c')}`,
);
