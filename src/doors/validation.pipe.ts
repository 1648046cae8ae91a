import { ValidationPipe } from '@nestjs/common';
import type { ValidationError } from 'class-validator';
import { type Refusal, refuse } from '../errors/refusal.js';

/**
 * Checks DTOs on both doors. Unknown fields are ignored (chapter 1); an absent required field is
 * `parameter_missing`, any other fault `validation_failed` with the field's path first.
 */
export const createValidationPipe = (): ValidationPipe =>
  new ValidationPipe({
    transform: true,
    whitelist: true,
    validateCustomDecorators: true,
    stopAtFirstError: true,
    validationError: { value: true },
    exceptionFactory: refusalOfValidation,
  });

/** The refusal for class-validator's errors: the first fault in `message`, all of them (at most 20) in `details`. */
function refusalOfValidation(errors: ValidationError[]): Refusal {
  const faults = errors.flatMap((error) => faultsOf(error, '', false));
  const [first] = faults;
  if (!first) return refuse('validation_failed');
  const details = faults.slice(0, 20).map(({ path, message }) => ({ path, message }));
  return refuse(first.missing ? 'parameter_missing' : 'validation_failed', first.message, details);
}

interface ValidationFault {
  readonly path: string;
  readonly message: string;
  readonly missing: boolean;
}

function faultsOf(error: ValidationError, parent: string, inList: boolean): ValidationFault[] {
  const path = inList
    ? `${parent}[${error.property}]`
    : parent === ''
      ? error.property
      : `${parent}.${error.property}`;
  const missing = error.value === undefined;
  const own = Object.values(error.constraints ?? {}).map((text) => {
    const rest = text.startsWith(error.property) ? text.slice(error.property.length) : ` ${text}`;
    return { path, missing, message: missing ? `${path} is required` : `${path}${rest}` };
  });
  return [
    ...own,
    ...(error.children ?? []).flatMap((child) => faultsOf(child, path, Array.isArray(error.value))),
  ];
}
