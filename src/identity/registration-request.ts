import type { MemberCaller } from '../doors/caller.js';
import { refuse } from '../errors/refusal.js';
import type { ExecutorKind } from './executor-directory.js';
import type { RegistrationFields } from './registration.fields.js';

/** A registration with everything its kind needs. What is null was not named: a default at first, kept at a re-pair. */
export interface RegistrationRequest {
  readonly kind: ExecutorKind;
  readonly displayName: string;
  /** Of a runner or provider. */
  readonly managerId: string | null;
  /** Of an agent application. */
  readonly agentId: string | null;
  readonly registrationIdentifier: string | null;
  readonly assignmentScope: 'user_private' | 'account_wide';
  readonly modules: readonly string[] | null;
  readonly machine: string | null;
  readonly serviceIds: 'pinned' | 'any' | null;
}

/**
 * What an administrator asks to register. A runner or provider needs `manager_public_id`, `registration_identifier` and
 * `assignment_scope`, an agent application `agent_public_id`. Throws `parameter_missing` with the field's name.
 */
export function registrationOf(fields: RegistrationFields): RegistrationRequest {
  const { kind, registration_identifier: identifier = null } = fields;
  if (kind === 'agent_application') {
    return {
      ...sharedOf(fields),
      managerId: null,
      agentId: required(fields, 'agent_public_id'),
      registrationIdentifier: identifier,
      assignmentScope: fields.assignment_scope ?? 'user_private',
    };
  }
  return {
    ...sharedOf(fields),
    managerId: required(fields, 'manager_public_id'),
    agentId: null,
    registrationIdentifier: required(fields, 'registration_identifier'),
    assignmentScope: required(fields, 'assignment_scope'),
  };
}

/**
 * What a human asks to register: a `user_private` runner that they manage. Throws `person_required` for an agent, and
 * `admin_required` for what only administrators name (chapter 1).
 */
export function ownRunnerOf(caller: MemberCaller, fields: RegistrationFields): RegistrationRequest {
  if (caller.kind !== 'human') throw refuse('person_required');
  const { kind, assignment_scope: scope = 'user_private', modules, service_ids, manager_public_id } = fields;
  if (kind !== 'runner') throw onlyAdministrators(`kind ${kind}`);
  if (scope === 'account_wide') throw onlyAdministrators('assignment_scope account_wide');
  if (modules) throw onlyAdministrators('modules');
  if (service_ids === 'any') throw onlyAdministrators('service_ids any');
  if (manager_public_id && manager_public_id !== caller.memberId) {
    throw onlyAdministrators('another manager_public_id');
  }
  return registrationOf({ ...fields, assignment_scope: scope, manager_public_id: caller.memberId });
}

const sharedOf = (
  fields: RegistrationFields,
): Pick<RegistrationRequest, 'kind' | 'displayName' | 'modules' | 'machine' | 'serviceIds'> => ({
  kind: fields.kind,
  displayName: fields.display_name,
  modules: fields.modules ?? null,
  machine: fields.machine ?? null,
  serviceIds: fields.service_ids ?? null,
});

function required<Name extends keyof RegistrationFields>(
  fields: RegistrationFields,
  name: Name,
): NonNullable<RegistrationFields[Name]> {
  const value = fields[name];
  if (value === undefined || value === null) {
    throw refuse('parameter_missing', `${name} is required for kind ${fields.kind}`);
  }
  return value;
}

const onlyAdministrators = (what: string): Error =>
  refuse('admin_required', `${what} is named by administrators only, at /platform_api/v1/executors`);
