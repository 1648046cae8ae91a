import { isServedName, isUuid } from '../kernel/names.js';
import { reservedNamespace } from '../kernel/reserved-names.js';
import type { RunnerRoute } from './configuration.js';
import { type ConfigurationFaults } from './configuration-faults.js';
import { isObject } from '../kernel/json/is-object.js';

const INVALID = 'invalid_tool_route';

/**
 * Reads the explicit route of a callable (chapter 4): `{kind: "runner", runner_executor_public_id, tool_name}`. Without
 * a UUID it is `runner_target_required`; malformed, an explicit null included, or on a name that the kernel keeps
 * `invalid_tool_route`. Answers undefined after noting a fault.
 */
export function readRoute(
  value: unknown,
  callable: string,
  faults: ConfigurationFaults,
): RunnerRoute | undefined {
  if (!isObject(value)) return faults.note('', 'must be an object', INVALID);
  const { kind, runner_executor_public_id: runnerId, tool_name: toolName } = value;
  if (kind !== 'runner') return faults.note('.kind', 'must be runner', INVALID);
  const namespace = reservedNamespace(callable);
  if (namespace !== undefined) {
    return faults.note('', `may not lead a reserved kernel name away (${namespace})`, INVALID);
  }
  const target = '.runner_executor_public_id';
  if (runnerId === undefined) return faults.note(target, 'is required', 'runner_target_required');
  if (!isUuid(runnerId)) return faults.note(target, 'must be a UUID', INVALID);
  if (!isServedName(toolName)) return faults.note('.tool_name', 'must be the name of a served tool', INVALID);
  const kept = reservedNamespace(toolName);
  if (kept !== undefined)
    return faults.note('.tool_name', `names a reserved kernel namespace (${kept})`, INVALID);
  return { runnerId, toolName };
}
