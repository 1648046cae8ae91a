import type { AccountId } from '../db/account-id.js';
import { statement } from '../db/statement.js';
import type { Member } from './member.entity.js';

type MemberRow = Omit<Member, 'accountId'>;

const MEMBER_COLUMNS = `
  id, kind, display_name as "displayName", role, steward_id as "stewardId", approval_floor as "approvalFloor",
  approval_rules as "approvalRules", created_at as "createdAt"`;

export const readMember = statement<[AccountId, memberId: string], MemberRow>(
  'member_read',
  `select ${MEMBER_COLUMNS} from members where account_id = $1 and id = $2`,
);

export const insertHuman = statement<[id: string, AccountId, displayName: string, role: string], MemberRow>(
  'human_insert',
  `insert into members (id, account_id, kind, display_name, role) values ($1, $2, 'human', $3, $4)
   returning ${MEMBER_COLUMNS}`,
);

/** No row when the steward is no human of the account. */
export const insertAgent = statement<
  [
    id: string,
    AccountId,
    displayName: string,
    stewardId: string,
    approvalFloor: string,
    approvalRules: string | null,
  ],
  MemberRow
>(
  'agent_insert',
  `insert into members (id, account_id, kind, display_name, steward_id, approval_floor, approval_rules)
   select $1, $2, 'agent', $3, steward.id, $5, $6::json
   from members steward where steward.account_id = $2 and steward.id = $4 and steward.kind = 'human'
   returning ${MEMBER_COLUMNS}`,
);

/**
 * Changes what is given and leaves the rest. No row when there is no such agent, or when `stewardId` is given and is not
 * its steward.
 */
export const changeAgent = statement<
  [
    AccountId,
    agentId: string,
    stewardId: string | null,
    approvalFloor: string | null,
    approvalRules: string | null,
  ],
  MemberRow
>(
  'agent_change',
  `update members
   set approval_floor = coalesce($4, approval_floor), approval_rules = coalesce($5::json, approval_rules)
   where account_id = $1 and id = $2 and kind = 'agent' and ($3::uuid is null or steward_id = $3)
   returning ${MEMBER_COLUMNS}`,
);
