import type { AccountId } from '../db/account-id.js';
import { statement } from '../db/statement.js';
import { eligible } from '../identity/eligibility.sql.js';
import { isGivenToPool } from '../routing/pool.sql.js';
import { moduleOfEntry } from '../routing/addressed.sql.js';

/** The executors that a member is eligible for. */
export const readReachable = statement<
  [accountId: AccountId, memberId: string],
  { id: string; display_name: string }
>(
  'console_read_reachable',
  `select e.id, e.display_name from executors e join members m on m.id = $2 and m.account_id = $1
   where e.account_id = $1 and ${eligible('e', 'm')}`,
);

/** One tool as an address leads to it; a pool's is one, however many providers announce it. */
export interface ConsoleToolRow {
  readonly module: string;
  /** Null where any provider may take the call. */
  readonly machine: string | null;
  readonly name: string;
  readonly description: string | null;
  /** Null where providers differ: the worst of them counts when it is called. */
  readonly effect_profile_text: string | null;
}

/**
 * Tools of executors that answer, which are given as pairs of executor and module, as far as the member may call them: those
 * that one of its executors shows to no model are people's. All words must be found in name, description, module or machine. In the order of
 * addresses, after the one given.
 */
export const readConsoleTools = statement<
  [
    accountId: AccountId,
    memberId: string,
    executorIds: readonly string[],
    modules: readonly string[],
    words: readonly string[],
    afterModule: string,
    afterMachine: string,
    afterName: string,
    limit: number,
  ],
  ConsoleToolRow
>(
  'console_read_tools',
  `with answering as (
     select executor_id, array_agg(module) as modules
     from unnest($3::uuid[], $4::text[]) as pair (executor_id, module) group by executor_id
   ), tool as (
     select ${moduleOfEntry('e', 'entry')} as module, case when e.kind <> 'tool_provider' then e.machine end as machine,
       entry ->> 'name' as name, entry ->> 'description' as description,
       (entry -> 'effect_profile')::text as effect_profile_text, answering.modules,
       m.kind = 'agent' and entry ->> 'name' = any (a.operator_names) as is_hidden
     from answering
     join executors e on e.id = answering.executor_id and e.account_id = $1
     join members m on m.id = $2 and m.account_id = $1
     join announcements a on a.executor_id = e.id
     cross join lateral json_array_elements(
       -- the summary is short, and does not say which of several modules an entry is of
       case when cardinality(e.modules) = 1 then a.tools_summary else a.tools end) entry
     where ${eligible('e', 'm')}
       and (e.kind <> 'tool_provider' or ${isGivenToPool('$1', `(entry ->> 'name')`)})
   )
   select module, machine, name, min(description) as description,
     case when count(distinct effect_profile_text) = 1 then min(effect_profile_text) end as effect_profile_text
   from tool
   where module = any (modules) and (module, coalesce(machine, ''), name) > ($6, $7, $8)
     and not exists (
       select from unnest($5::text[]) word
       where strpos(lower(concat_ws(' ', name, description, module, machine)), word) = 0)
   group by module, machine, name
   having not bool_or(is_hidden)
   order by module, coalesce(machine, ''), name
   limit $9`,
);
