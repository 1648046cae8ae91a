import { IsOptional } from 'class-validator';
import { IsInstant, IsName, IsOneOf } from './field-rules.js';

/** Body of `POST /platform_api/v1/members/{public_id}/credentials`. */
export class CredentialFields {
  @IsName()
  name: string;

  @IsOptional()
  @IsInstant()
  expires_at?: string;

  @IsOptional()
  @IsOneOf('member', 'platform')
  plane?: 'member' | 'platform';
}
