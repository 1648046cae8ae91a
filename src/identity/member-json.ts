import type { Member } from './member.entity.js';

type HumanFacts = Pick<Member, 'id' | 'displayName' | 'role' | 'createdAt'>;
type AgentFacts = Pick<
  Member,
  'id' | 'displayName' | 'stewardId' | 'approvalFloor' | 'approvalRules' | 'createdAt'
>;

/** A human as every answer shows them (chapter 1). */
export const humanJson = ({ id, displayName, role, createdAt }: HumanFacts): object => ({
  public_id: id,
  display_name: displayName,
  role,
  created_at: createdAt,
});

/** An agent as every answer shows it (chapter 1). */
export const agentJson = (agent: AgentFacts): object => ({
  public_id: agent.id,
  display_name: agent.displayName,
  steward_public_id: agent.stewardId,
  approval_floor: agent.approvalFloor,
  approval_rules: agent.approvalRules ?? [],
  created_at: agent.createdAt,
});
