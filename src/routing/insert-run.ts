import { newId } from '../db/ids.js';
import type { Sql } from '../db/statement.js';
import type { MemberCaller } from '../doors/caller.js';
import { refuse } from '../errors/refusal.js';
import type { RunPlan } from './continuation.js';
import { createRun, diagnoseCreation } from './create-run.sql.js';
import { FrozenRun } from './frozen-run.js';

/**
 * Makes the run of a principal, in the caller's transaction. Throws `unauthorized`, `execution_details_pruned` of its parent
 * and `approval_floor`.
 */
export async function insertRun(
  sql: Sql,
  caller: MemberCaller,
  principalId: string,
  plan: RunPlan,
): Promise<FrozenRun> {
  const { accountId, credentialId, memberId } = caller;
  const { toolDefinitions, environment, digest } = plan.declaration;
  const row = await sql.row(
    createRun,
    accountId,
    credentialId,
    memberId,
    newId(),
    plan.conversationId,
    plan.parentId,
    plan.defaultRunnerId,
    digest,
    toolDefinitions.text,
    environment.text,
    plan.approvalMode,
    plan.approvalRulesText,
    principalId,
  );
  if (row) return new FrozenRun(row);
  const found = await sql.row(diagnoseCreation, accountId, credentialId, memberId, plan.parentId);
  if (!found?.is_live) throw refuse('unauthorized');
  if (found.is_parent_gone) throw refuse('execution_details_pruned');
  throw refuse(
    'approval_floor',
    `approval_mode ${plan.approvalMode} is looser than the floor set for the agent`,
  );
}
