import type { ApprovalMode } from '../assembly/approval-mode.js';
import { strictness } from '../assembly/profile.sql.js';
import type { AccountId } from '../db/account-id.js';
import { statement } from '../db/statement.js';
import { isLiveCredential } from './accept-tasks.sql.js';
import { frozenRunColumns, type FrozenRunRow } from './frozen-run.js';

export type CreateRunParams = [
  accountId: AccountId,
  credentialId: string,
  callerId: string,
  runId: string,
  conversationId: string | null,
  parentId: string | null,
  defaultRunnerId: string | null,
  digest: Buffer,
  toolDefinitions: string,
  environment: string,
  approvalMode: ApprovalMode,
  approvalRules: string,
  principalId: string,
];

/**
 * Makes a run of a principal with everything that is frozen on it, in one statement: the declaration (stored once for equal ones), the
 * policy, and the steward's rules as they stand, or as they stood for its parent. No row where the credential is no longer
 * live, the mode is looser than the agent's floor now, or the parent was pruned; the parent's row is locked against that, and
 * a declaration that is there against being deleted for want of a run.
 */
export const createRun = statement<CreateRunParams, FrozenRunRow>(
  'run_create',
  `with principal as (
     select m.id, m.account_id, m.steward_id, coalesce(m.approval_rules, '[]'::json) as approval_rules
     from members m
     join credentials k on k.account_id = m.account_id and k.id = $2 and k.member_id = $3 and ${isLiveCredential('k')}
     where m.account_id = $1 and m.id = $13
       and (m.approval_floor is null or ${strictness('$11::text')} >= ${strictness('m.approval_floor')})
   ), parent as (
     select p.id, p.steward_rules from runs p
     where p.account_id = $1 and p.id = $6 and p.principal_id = $13 and p.details_pruned_at is null
     for key share
   ), admitted as (
     select principal.*, coalesce(parent.steward_rules, principal.approval_rules) as steward_rules
     from principal left join parent on true
     where $6::uuid is null or parent.id is not null
   ), kept as (
     select from declarations d where d.account_id = $1 and d.digest = $8 for key share
   ), declared as (
     insert into declarations (account_id, digest, tool_definitions, environment)
     select account_id, $8, $9::json, $10::json from admitted where not exists (select from kept)
     on conflict do nothing
   ), run as (
     insert into runs (id, account_id, principal_id, conversation_id, parent_run_id, default_runner_id,
       declaration_digest, approval_mode, approval_rules, steward_rules, created_at)
     select $4, account_id, id, $5, $6, $7, $8, $11, $12::json, steward_rules, clock_timestamp() from admitted
     returning *
   )
   select ${frozenRunColumns('run', 'admitted')} from run cross join admitted`,
);

/** The diagnosing read behind `createRun`. */
export const diagnoseCreation = statement<
  [accountId: AccountId, credentialId: string, callerId: string, parentId: string | null],
  { is_live: boolean; is_parent_gone: boolean }
>(
  'run_diagnose_creation',
  `select exists (
       select from credentials k where k.account_id = $1 and k.id = $2 and k.member_id = $3 and ${isLiveCredential('k')}
     ) as is_live,
     $4::uuid is not null and not exists (
       select from runs p where p.account_id = $1 and p.id = $4 and p.details_pruned_at is null) as is_parent_gone`,
);
