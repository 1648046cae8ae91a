import type { AccountId } from '../db/account-id.js';
import { statement } from '../db/statement.js';

/** A module on a machine, and who is assigned it. */
export interface AssignmentRecord {
  readonly module: string;
  readonly machine: string;
  readonly executor_public_id: string;
  readonly kind: 'runner' | 'agent_application' | 'tool_provider';
}

/** In the order of machines and modules, after the pair given; the first page begins behind two empty names. */
export const readAssignmentPage = statement<
  [AccountId, afterMachine: string, afterModule: string, limit: number],
  AssignmentRecord
>(
  'assignment_page',
  `select s.module, s.machine, s.executor_id as executor_public_id, e.kind
   from assignments s join executors e on e.id = s.executor_id
   where s.account_id = $1 and (s.machine, s.module) > ($2, $3)
   order by s.machine, s.module limit $4`,
);

/** A machine is wherever somebody is assigned a module. */
export const readMachinePage = statement<
  [AccountId, after: string, limit: number],
  { readonly machine: string; readonly modules: readonly string[] }
>(
  'machine_page',
  `select machine, array_agg(module order by module) as modules from assignments
   where account_id = $1 and machine > $2 group by machine order by machine limit $3`,
);
