import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { NodeEvents } from '../bus/node-events.js';
import { Database } from '../db/database.js';
import { newId } from '../db/ids.js';
import { Answer } from '../doors/answer.js';
import type { MemberCaller, PlatformCaller } from '../doors/caller.js';
import { Idempotency } from '../doors/idempotency.js';
import { requiredText, type VerbInput } from '../doors/input.js';
import { refuse } from '../errors/refusal.js';
import { isUuid } from '../kernel/names.js';
import { accountPage } from './account-page.js';
import { approvalRulesOf } from './approval-rules-field.js';
import { recordAudit } from './audit.js';
import type { AgentChangeFields, AgentFields, HumanFields } from './member.fields.js';
import { Member } from './member.entity.js';
import { agentJson, humanJson } from './member-json.js';
import { changeAgent, insertAgent, insertHuman } from './member.sql.js';
import { createAgentVerb, createHumanVerb } from './member.verbs.js';

/**
 * Owns humans and agents. Invariant: an agent has one human steward of its own account, and its floor and rules are set
 * by that steward or an administrator, never by the agent.
 */
@Injectable()
export class MemberService {
  constructor(
    @InjectRepository(Member) private readonly members: Repository<Member>,
    private readonly database: Database,
    private readonly idempotency: Idempotency,
    private readonly events: NodeEvents,
  ) {}

  createHuman(caller: PlatformCaller, input: VerbInput, fields: HumanFields): Promise<Answer> {
    const { accountId, memberId: actorId } = caller;
    const { display_name, role = 'member' } = fields;
    return this.idempotency.once(createHumanVerb, caller, input, async (sql) => {
      const id = newId();
      const human = await sql.row(insertHuman, id, accountId, display_name, role ?? 'member');
      await recordAudit(sql, {
        accountId,
        actorId,
        action: 'human.created',
        subjectId: id,
        detail: { role },
      });
      return new Answer({ human: human && humanJson(human) }, 201);
    });
  }

  /** Throws `validation_failed` for a steward who is no human of the account, and for rules that break their grammar. */
  createAgent(caller: PlatformCaller, input: VerbInput, fields: AgentFields): Promise<Answer> {
    const { accountId, memberId: actorId } = caller;
    const { display_name, steward_public_id } = fields;
    const floor = fields.approval_floor ?? 'ask';
    const rules = approvalRulesOf(input);
    return this.idempotency.once(createAgentVerb, caller, input, async (sql) => {
      const id = newId();
      const agent = await sql.row(insertAgent, id, accountId, display_name, steward_public_id, floor, rules);
      if (!agent) throw refuse('validation_failed', 'steward_public_id names no human of this account');
      const detail = { steward_public_id, approval_floor: floor };
      await recordAudit(sql, { accountId, actorId, action: 'agent.created', subjectId: id, detail });
      return new Answer({ agent: agentJson(agent) }, 201);
    });
  }

  /** An administrator changes any agent, a member only those they steward. Throws `not_found` for every other. */
  async changeAgent(
    caller: PlatformCaller | MemberCaller,
    input: VerbInput,
    fields: AgentChangeFields,
  ): Promise<object> {
    if (caller.plane === 'member' && caller.kind !== 'human') throw refuse('person_required');
    const { accountId, memberId: actorId } = caller;
    const agentId = requiredText(input, 'public_id');
    if (!isUuid(agentId)) throw refuse('not_found');
    const floor = fields.approval_floor ?? null;
    const rules = approvalRulesOf(input);
    const stewardId = caller.plane === 'member' ? caller.memberId : null;
    const agent = await this.database.transaction(async (sql) => {
      const changed = await sql.row(changeAgent, accountId, agentId, stewardId, floor, rules);
      if (!changed) throw refuse('not_found');
      const detail = { ...(floor ? { approval_floor: floor } : {}), approval_rules_changed: rules !== null };
      await recordAudit(sql, { accountId, actorId, action: 'agent.changed', subjectId: agentId, detail });
      return changed;
    });
    await this.events.announce('member', { id: agentId });
    return { agent: agentJson(agent) };
  }

  async listHumans({ accountId }: PlatformCaller, input: VerbInput): Promise<object> {
    const { rows, pagination } = await accountPage(this.members, accountId, input, {
      where: { kind: 'human' },
    });
    return { humans: rows.map(humanJson), pagination };
  }

  async listAgents({ accountId }: PlatformCaller, input: VerbInput): Promise<object> {
    const { rows, pagination } = await accountPage(this.members, accountId, input, {
      where: { kind: 'agent' },
    });
    return { agents: rows.map(agentJson), pagination };
  }
}
