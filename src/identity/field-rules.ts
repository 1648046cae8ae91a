import { ValidateBy } from 'class-validator';
import { isModuleName, isReservedModuleName, isUuid } from '../kernel/names.js';

const NAME_MAX = 200;
const MODULES_MAX = 64;
/** What an `integer` of PostgreSQL holds at most. */
const DAYS_MAX = 2_147_483_647;
/** Any character but controls and lone surrogates, which PostgreSQL could not store as they are. */
const PLAIN_TEXT = /^[^\p{Cc}\p{Cs}]+$/u;

/** What is wrong with a value, to be read after the field's name; undefined when nothing is. */
type FaultOf = (value: unknown) => string | undefined;

/** A field of a DTO that keeps a rule. The validation pipe puts the field's path before the fault. */
const keeps = (name: string, faultOf: FaultOf): PropertyDecorator =>
  ValidateBy({
    name,
    validator: {
      validate: (value: unknown) => faultOf(value) === undefined,
      defaultMessage: (args) => `${args?.property ?? name}${faultOf(args?.value) ?? ''}`,
    },
  });

/** A name that people read: 1 to 200 characters, not blank, on one line. */
export const nameFault: FaultOf = (value) =>
  typeof value === 'string' && value.length <= NAME_MAX && value.trim() !== '' && PLAIN_TEXT.test(value)
    ? undefined
    : ` must be a string of 1 to ${NAME_MAX} characters, not blank and without control characters`;

/** A module's or a machine's name (chapter 1). */
const moduleNameFault: FaultOf = (value) => {
  if (!isModuleName(value)) return ' must match ^[A-Za-z0-9_-]{1,64}$';
  return isReservedModuleName(value) ? ' must not begin with nexus-' : undefined;
};

/** A list of 1 to 64 different module names. */
const moduleListFault: FaultOf = (value) => {
  if (!Array.isArray(value) || value.length === 0 || value.length > MODULES_MAX) {
    return ` must be a list of 1 to ${MODULES_MAX} names`;
  }
  for (const [index, name] of value.entries()) {
    const fault = moduleNameFault(name);
    if (fault !== undefined) return `[${index}]${fault}`;
    if (value.indexOf(name) < index) return `[${index}] repeats ${String(name)}`;
  }
  return undefined;
};

/** ISO 8601 with its offset: a moment, whoever reads it. */
const instantFault: FaultOf = (value) =>
  typeof value === 'string' &&
  /^\d{4}-\d\d-\d\dT([01]\d|2[0-3]):\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/.test(value) &&
  !Number.isNaN(Date.parse(value)) &&
  // a day that its month does not have would roll over into the next one
  new Date(`${value.slice(0, 10)}T00:00:00Z`).toISOString().startsWith(value.slice(0, 10))
    ? undefined
    : ' must be an ISO 8601 date and time with its offset';

export const IsName = (): PropertyDecorator => keeps('isName', nameFault);
export const IsMachineName = (): PropertyDecorator => keeps('isMachineName', moduleNameFault);
export const IsModuleList = (): PropertyDecorator => keeps('isModuleList', moduleListFault);
export const IsInstant = (): PropertyDecorator => keeps('isInstant', instantFault);
export const IsPublicId = (): PropertyDecorator =>
  keeps('isPublicId', (value) => (isUuid(value) ? undefined : ' must be a public id'));
export const IsOneOf = (...values: readonly string[]): PropertyDecorator =>
  keeps('isOneOf', (value) =>
    values.includes(value as string) ? undefined : ` must be one of ${values.join(', ')}`,
  );

/** A positive number of days, or null for ever (chapter 7). */
export const IsRetentionDays = (): PropertyDecorator =>
  keeps('isRetentionDays', (value) =>
    value === null || (Number.isInteger(value) && (value as number) >= 1 && (value as number) <= DAYS_MAX)
      ? undefined
      : ' must be a positive integer or null',
  );
