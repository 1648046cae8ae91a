import { IsRetentionDays } from './field-rules.js';

/** Body of `PATCH /platform_api/v1/retention`. */
export class RetentionFields {
  @IsRetentionDays()
  execution_details_retention_days: number | null;
}
