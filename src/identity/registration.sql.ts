import type { AccountId } from '../db/account-id.js';
import { statement } from '../db/statement.js';
import { EXECUTOR_COLUMNS } from './executor-columns.sql.js';
import type { ExecutorFacts } from './executor-json.js';

/** The live executor of a registration key: `(manager, identifier)`, or `(agent)` for an agent application (chapter 1). */
export const readRegistered = statement<
  [AccountId, managerId: string | null, identifier: string | null, agentId: string | null],
  ExecutorFacts
>(
  'registration_read',
  `select ${EXECUTOR_COLUMNS} from executors
   where account_id = $1 and status = 'active'
     and (agent_id = $4 or (manager_id = $2 and registration_identifier = $3))`,
);

export const insertExecutor = statement<
  [
    id: string,
    AccountId,
    kind: string,
    displayName: string,
    managerId: string | null,
    agentId: string | null,
    identifier: string | null,
    assignmentScope: string,
    modules: readonly string[],
    machine: string,
    serviceIds: string,
  ],
  ExecutorFacts
>(
  'registration_insert',
  `insert into executors (id, account_id, kind, display_name, manager_id, agent_id, registration_identifier,
     assignment_scope, modules, machine, service_ids)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) returning ${EXECUTOR_COLUMNS}`,
);

/** Re-pairs: the next epoch, under the account's lock. Kind and scope are frozen; null keeps what there is. */
export const rePairExecutor = statement<
  [
    AccountId,
    executorId: string,
    displayName: string,
    modules: readonly string[] | null,
    machine: string | null,
    serviceIds: string | null,
  ],
  ExecutorFacts
>(
  'registration_re_pair',
  `update executors
   set credential_epoch = credential_epoch + 1, display_name = $3, modules = coalesce($4::text[], modules),
     machine = coalesce($5, machine), service_ids = coalesce($6, service_ids)
   where account_id = $1 and id = $2 and status = 'active' returning ${EXECUTOR_COLUMNS}`,
);

/**
 * The first free name of `base`, `base-2`, `base-3` … on which none of the modules is assigned; the account's lock keeps
 * it free. No row after 10,000.
 */
export const freeMachineName = statement<
  [AccountId, modules: readonly string[], base: string],
  { machine: string }
>(
  'registration_free_machine',
  `select machine from (
     select n, left($3::text, 64 - length(suffix)) || suffix as machine
     from generate_series(1, 10000) n, lateral (select case when n = 1 then '' else '-' || n end as suffix) s
   ) candidate
   where not exists (
     select from assignments taken
     where taken.account_id = $1 and taken.module = any($2) and taken.machine = candidate.machine)
   order by n limit 1`,
);

/**
 * Makes the records of modules that the account does not know yet (chapter 8); of `interchangeable` ones only the default
 * module is not, which is everybody's. Answers those that the executor may not be assigned to, since only tool providers
 * serve an interchangeable module.
 */
export const ensureModules = statement<
  [AccountId, modules: readonly string[], isProvider: boolean, everybodys: string],
  { module: string }
>(
  'module_ensure',
  `with made as (
     insert into modules (account_id, name, declares_tools, interchangeable)
     select $1, module, true, $3 and module <> $4 from unnest($2::text[]) module
     on conflict do nothing
   )
   select name as module from modules
   where account_id = $1 and name = any ($2) and interchangeable and not $3
   order by name`,
);

/** Assigns the modules on the machine; answers those that were free. */
export const assignModules = statement<
  [AccountId, modules: readonly string[], machine: string, executorId: string],
  { module: string }
>(
  'assignment_insert',
  `insert into assignments (account_id, module, machine, executor_id)
   select $1, module, $3, $4 from unnest($2::text[]) module
   on conflict do nothing returning module`,
);

export const freeAssignments = statement<[executorId: string], never>(
  'assignment_delete',
  `delete from assignments where executor_id = $1`,
);
