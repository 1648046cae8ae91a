import type { AccountId } from '../db/account-id.js';
import { statement } from '../db/statement.js';
import { DESCRIPTION_COLUMNS, type ExecutorDescriptionRow } from './executor-description.js';

type Params = [
  accountId: AccountId,
  executorId: string,
  epoch: number,
  tools: string,
  toolsSummary: string,
  toolNames: readonly string[],
  operatorNames: readonly string[],
  environment: string,
  documents: string,
  delivery: 'claim' | 'serve',
  maxInFlight: number,
  searchText: string,
  instanceId: string | null,
];

/**
 * Replaces an announcement whole and raises its version, only while the executor is active at the caller's epoch: no row
 * otherwise, and nothing is written. One statement is the one transaction of chapter 2; the share lock makes a revocation
 * or a re-pair under way decide first. Texts go into `json` columns as they were sent.
 */
export const replaceAnnouncement = statement<Params, ExecutorDescriptionRow>(
  'announcement_replace',
  `with executor as (
     select ${DESCRIPTION_COLUMNS} from executors
     where account_id = $1 and id = $2 and status = 'active' and credential_epoch = $3
     for share
   ), replaced as (
     insert into announcements as announced (executor_id, account_id, version, tools, tools_summary, tool_names,
       operator_names, environment, documents, delivery, max_in_flight, search_text, instance_id, announced_at)
     select id, $1, 1, $4::json, $5::json, $6::text[], $7::text[], $8::json, $9::json, $10, $11, $12, $13,
       clock_timestamp()
     from executor
     on conflict (executor_id) do update set
       version = announced.version + 1, tools = excluded.tools, tools_summary = excluded.tools_summary,
       tool_names = excluded.tool_names, operator_names = excluded.operator_names,
       environment = excluded.environment, documents = excluded.documents, delivery = excluded.delivery,
       max_in_flight = excluded.max_in_flight, search_text = excluded.search_text,
       instance_id = excluded.instance_id, announced_at = excluded.announced_at
     returning executor_id
   )
   select executor.* from executor join replaced on replaced.executor_id = executor.id`,
);
