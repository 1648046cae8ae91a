import { reservedNamespace } from '../kernel/reserved-names.js';
import { isServedName, isUuid } from '../kernel/names.js';
import type { RunnerRoute } from './configuration.js';
import { type ConfigurationFaults, isObject } from './configuration-faults.js';

/**
 * Reads an explicit route (chapter 4): `{kind: "runner", runner_executor_public_id, tool_name}`. Without a UUID it is
 * `runner_target_required`; malformed, an explicit null included, or on a name the kernel keeps `invalid_tool_route`.
 */
export function readRoute(
  value: unknown,
  callable: string,
  path: string,
  faults: ConfigurationFaults,
): RunnerRoute | undefined {
  const refuseRoute = (field: string, what: string): undefined => {
    faults.add(field, what, 'invalid_tool_route');
    return undefined;
  };
  if (!isObject(value)) return refuseRoute(path, 'must be an object');
  if (value['kind'] !== 'runner') return refuseRoute(`${path}.kind`, 'must be runner');
  const namespace = reservedNamespace(callable);
  if (namespace !== undefined)
    return refuseRoute(path, `may not lead a reserved kernel name away (${namespace})`);
  const { runner_executor_public_id: runnerId, tool_name: toolName } = value;
  if (runnerId === undefined) {
    faults.add(`${path}.runner_executor_public_id`, 'is required', 'runner_target_required');
    return undefined;
  }
  if (!isUuid(runnerId)) return refuseRoute(`${path}.runner_executor_public_id`, 'must be a UUID');
  if (!isServedName(toolName)) return refuseRoute(`${path}.tool_name`, 'must be the name of a served tool');
  const reserved = reservedNamespace(toolName);
  if (reserved !== undefined) {
    return refuseRoute(`${path}.tool_name`, `names a reserved kernel namespace (${reserved})`);
  }
  return { runnerId, toolName };
}
