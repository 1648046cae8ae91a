import { IsBoolean, IsOptional } from 'class-validator';
import { IsMachineName } from '../identity/field-rules.js';

/** Body of a change to a module. */
export class ModuleChangeFields {
  @IsOptional()
  @IsBoolean()
  declares_tools?: boolean;

  @IsOptional()
  @IsBoolean()
  interchangeable?: boolean;
}

/** Body of `POST /platform_api/v1/modules`. A module's name keeps the rule of a machine's. */
export class ModuleFields extends ModuleChangeFields {
  @IsMachineName()
  name: string;
}
