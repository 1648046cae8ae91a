import type { AccountId } from '../db/account-id.js';
import { statement } from '../db/statement.js';
import { APPROVAL_MODES, type ApprovalMode } from './approval-mode.js';

/** A member as their profile shows them; JSON columns as text, an absent configuration as an empty one. */
export interface ProfileRow {
  id: string;
  kind: 'human' | 'agent';
  display_name: string;
  role: 'member' | 'admin' | null;
  steward_id: string | null;
  approval_floor: ApprovalMode | null;
  approval_rules_text: string;
  configuration_text: string;
  created_at: Date;
}

const PROFILE_COLUMNS = `
  id, kind, display_name, role, steward_id, approval_floor, coalesce(approval_rules::text, '[]') as approval_rules_text,
  coalesce(configuration::text, '{}') as configuration_text, created_at`;

export const readProfile = statement<[accountId: AccountId, memberId: string], ProfileRow>(
  'profile_read',
  `select ${PROFILE_COLUMNS} from members where account_id = $1 and id = $2`,
);

/** SQL: how strict a mode is, as a number that grows with it. */
export const strictness = (mode: string): string =>
  `array_position(array['${APPROVAL_MODES.join("','")}'], ${mode})`;

/**
 * Replaces an agent's configuration and raises its version. The floor is compared in the statement, so a floor that is
 * raised at the same time is not undercut; no row means the mode is looser than it (chapter 4).
 */
export const replaceConfiguration = statement<
  [accountId: AccountId, agentId: string, configuration: string, approvalMode: ApprovalMode | null],
  ProfileRow
>(
  'profile_replace_configuration',
  `update members set configuration = $3::json, configuration_version = configuration_version + 1
   where account_id = $1 and id = $2 and kind = 'agent'
     and ($4::text is null or ${strictness('$4::text')} >= ${strictness('approval_floor')})
   returning ${PROFILE_COLUMNS}`,
);
