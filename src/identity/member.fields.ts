import { Allow, IsOptional } from 'class-validator';
import { IsName, IsOneOf, IsPublicId } from './field-rules.js';

/** Body of `POST /platform_api/v1/humans`. */
export class HumanFields {
  @IsName()
  display_name: string;

  @IsOptional()
  @IsOneOf('member', 'admin')
  role?: 'member' | 'admin';
}

/** Body of a change to an agent. The rules keep a grammar of their own, `approvalRulesOf`. */
export class AgentChangeFields {
  @IsOptional()
  @IsOneOf('ask', 'rules', 'bypass')
  approval_floor?: 'ask' | 'rules' | 'bypass';

  @Allow()
  approval_rules?: unknown;
}

/** Body of `POST /platform_api/v1/agents`. */
export class AgentFields extends AgentChangeFields {
  @IsName()
  display_name: string;

  @IsPublicId()
  steward_public_id: string;
}
