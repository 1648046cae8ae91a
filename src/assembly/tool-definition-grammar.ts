import { sourceOf } from '../kernel/json/strict-parse.js';
import { isCallableName } from '../kernel/names.js';
import { reservedNamespace } from '../kernel/reserved-names.js';
import type { ExplicitDefinition, ToolDefinition } from './configuration.js';
import { type ConfigurationFaults } from './configuration-faults.js';
import { NAME_RULE, readAlias, readKernelTool } from './kernel-tool-grammar.js';
import { readRoute } from './route-grammar.js';
import { isObject } from '../kernel/json/is-object.js';

/**
 * Reads one entry of `tool_definitions` (chapter 4), a value of `parseStrict`: an explicit declaration `{type:
 * "function", function: {name, description?, parameters}, route?, defer_loading?}`, a kernel tool declared as the
 * catalogue has it, or an alias of one. Answers undefined after noting a fault.
 */
export function readToolDefinition(entry: unknown, faults: ConfigurationFaults): ToolDefinition | undefined {
  if (!isObject(entry)) return faults.note('', 'must be an object');
  const { defer_loading: deferLoading = false, type, function: declared } = entry;
  if (typeof deferLoading !== 'boolean') return faults.note('.defer_loading', 'must be a boolean');
  if (Object.hasOwn(entry, 'canonical')) return readAlias(entry, deferLoading, faults);
  if (type !== 'function') return faults.note('.type', 'must be function');
  if (!isObject(declared)) return faults.note('.function', 'must be an object');
  const explicit = readFunction(declared, deferLoading, faults.at('.function'));
  if (!explicit) return undefined;
  if (Object.hasOwn(entry, 'route')) {
    const route = readRoute(entry['route'], explicit.name, faults.at('.route'));
    return route && { ...explicit, route };
  }
  const isKernelName = reservedNamespace(explicit.name) !== undefined;
  return isKernelName ? readKernelTool(declared, deferLoading, faults.at('.function')) : explicit;
}

function readFunction(
  declared: Record<string, unknown>,
  deferLoading: boolean,
  faults: ConfigurationFaults,
): ExplicitDefinition | undefined {
  const { name, description, parameters } = declared;
  if (!isCallableName(name)) return faults.note('.name', NAME_RULE);
  if (description !== undefined && typeof description !== 'string') {
    return faults.note('.description', 'must be a string');
  }
  if (!isObject(parameters)) return faults.note('.parameters', 'must be an object');
  const functionText = sourceOf(declared) ?? JSON.stringify(declared);
  return { kind: 'explicit', name, functionText, description, route: undefined, deferLoading };
}
