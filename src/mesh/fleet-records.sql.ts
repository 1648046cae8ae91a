import type { AccountId } from '../db/account-id.js';
import { statement } from '../db/statement.js';

/** An assignment with what its answers are held against. */
export interface AssignmentRow {
  readonly module: string;
  readonly machine: string;
  readonly executor_id: string;
  readonly kind: 'runner' | 'agent_application' | 'tool_provider';
  readonly epoch: number;
  readonly service_ids: 'pinned' | 'any';
  readonly last_seen_at: Date | null;
  readonly declares_tools: boolean;
  readonly interchangeable: boolean;
  /** The executor has other modules beside this one. */
  readonly is_one_of_several: boolean;
  readonly first_module: string;
  /** The id that its own announcement bound, until the next one. */
  readonly instance_id: string | null;
  /** Null when it never announced. */
  readonly delivery: 'claim' | 'serve' | null;
  /** All that the executor announced, of whatever module. */
  readonly tool_names: readonly string[] | null;
}

/** Every assignment of the account, in the order of machines and modules. */
export const readAssignments = statement<[AccountId], AssignmentRow>(
  'fleet_read_assignments',
  `select s.module, s.machine, e.id as executor_id, e.kind, e.credential_epoch as epoch, e.service_ids, e.last_seen_at,
     o.declares_tools, o.interchangeable, cardinality(e.modules) > 1 as is_one_of_several, e.modules[1] as first_module,
     a.instance_id, a.delivery, a.tool_names
   from assignments s
   join modules o on o.account_id = s.account_id and o.name = s.module
   join executors e on e.id = s.executor_id
   left join announcements a on a.executor_id = e.id
   where s.account_id = $1
   order by s.machine, s.module`,
);

/** Which of these service ids are another account's, whose answers a bus that is not managed brings here as well. */
export const readForeignIds = statement<[AccountId, ids: readonly string[]], { id: string }>(
  'fleet_read_foreign_ids',
  `select e.id::text as id from executors e where e.account_id <> $1 and e.id::text = any ($2)
   union
   select a.instance_id from announcements a where a.account_id <> $1 and a.instance_id = any ($2)`,
);
