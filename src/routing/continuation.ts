import { type ApprovalMode, isLooser } from '../assembly/approval-mode.js';
import { type Assembled, freeze } from '../assembly/declaration.js';
import { refuse } from '../errors/refusal.js';
import type { StoredDeclaration } from './declaration-store.js';
import type { FrozenRun } from './frozen-run.js';
import type { RunRequest } from './run-request.js';

/** What a run is made with: everything that is then frozen on it. */
export interface RunPlan {
  readonly conversationId: string | null;
  readonly parentId: string | null;
  readonly defaultRunnerId: string | null;
  readonly declaration: Assembled;
  readonly approvalMode: ApprovalMode;
  readonly approvalRulesText: string;
}

/**
 * A continuation child (chapter 5): it copies declaration, candidates, default and policy of its parent. It may keep fewer
 * callables by `tool_names` and be stricter; whatever else would add or retarget is `route_mismatch`.
 */
export function planContinuation(
  request: RunRequest,
  parent: FrozenRun,
  inherited: StoredDeclaration,
): RunPlan {
  refuseChange(request, parent);
  const approvalMode = request.approvalMode ?? parent.approvalMode;
  if (isLooser(approvalMode, parent.approvalMode)) {
    throw refuse('route_mismatch', `approval_mode is looser than the parent's ${parent.approvalMode}`);
  }
  return {
    conversationId: parent.conversationId,
    parentId: parent.id,
    defaultRunnerId: parent.defaultRunnerId,
    declaration: narrowed(inherited, request.toolNames),
    approvalMode,
    approvalRulesText: parent.approvalRulesText,
  };
}

function refuseChange(request: RunRequest, parent: FrozenRun): void {
  const { conversationId, defaultRunnerId, configuration, approvalRulesText } = request;
  const differs = (field: string): Error =>
    refuse('route_mismatch', `${field} is not the parent's: a continuation only narrows`);
  if (configuration !== undefined) throw differs('configuration');
  if (approvalRulesText !== undefined) throw differs('approval_rules');
  if (conversationId !== undefined && conversationId !== parent.conversationId) {
    throw differs('conversation_public_id');
  }
  if (defaultRunnerId !== undefined && defaultRunnerId !== parent.defaultRunnerId) {
    throw differs('default_runner_executor_public_id');
  }
}

function narrowed(inherited: StoredDeclaration, toolNames: readonly string[] | undefined): Assembled {
  const { toolDefinitions, environment, frozen } = inherited;
  if (toolNames === undefined) return freeze(toolDefinitions.text, environment.text);
  const unknown = toolNames.findIndex((name) => !frozen.callables.has(name));
  if (unknown >= 0) throw refuse('route_mismatch', `tool_names[${unknown}] is no callable of the parent`);
  return freeze(frozen.narrowedTo(new Set(toolNames)).text, environment.text);
}
