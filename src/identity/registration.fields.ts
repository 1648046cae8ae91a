import { IsOptional } from 'class-validator';
import { IsMachineName, IsModuleList, IsName, IsOneOf, IsPublicId } from './field-rules.js';

/** Body of a registration, on both planes (chapter 1). Which fields a kind must bring is `registrationOf`'s to say. */
export class RegistrationFields {
  @IsOneOf('runner', 'agent_application', 'tool_provider')
  kind: 'runner' | 'agent_application' | 'tool_provider';

  @IsName()
  display_name: string;

  @IsOptional()
  @IsPublicId()
  manager_public_id?: string;

  @IsOptional()
  @IsPublicId()
  agent_public_id?: string;

  @IsOptional()
  @IsName()
  registration_identifier?: string;

  @IsOptional()
  @IsOneOf('user_private', 'account_wide')
  assignment_scope?: 'user_private' | 'account_wide';

  @IsOptional()
  @IsModuleList()
  modules?: string[];

  @IsOptional()
  @IsMachineName()
  machine?: string;

  @IsOptional()
  @IsOneOf('pinned', 'any')
  service_ids?: 'pinned' | 'any';
}
