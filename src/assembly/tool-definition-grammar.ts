import { KERNEL_TOOLS, type KernelTool } from '../kernel/catalogue.js';
import { sourceOf } from '../kernel/json/strict-parse.js';
import { isCallableName } from '../kernel/names.js';
import { reservedNamespace } from '../kernel/reserved-names.js';
import type { KernelDefinition, ToolDefinition } from './configuration.js';
import { type ConfigurationFaults, isObject } from './configuration-faults.js';
import { readRoute } from './route-grammar.js';

/**
 * Reads one entry of `tool_definitions` (chapter 4), a value of `parseStrict`: an explicit declaration, a kernel tool
 * declared byte-equal to the catalogue (whitespace apart), or an alias `{name, canonical, description?,
 * defer_loading?}`. An alias is also read in the shape in which an assembly answers it, so that what was assembled may
 * be declared. Answers undefined after noting a fault.
 */
export function readToolDefinition(
  entry: unknown,
  path: string,
  faults: ConfigurationFaults,
): ToolDefinition | undefined {
  if (!isObject(entry)) return note(faults, path, 'must be an object');
  const { defer_loading: deferLoading = false } = entry;
  if (typeof deferLoading !== 'boolean') return note(faults, `${path}.defer_loading`, 'must be a boolean');
  if (Object.hasOwn(entry, 'canonical')) return readAlias(entry, deferLoading, path, faults);
  if (entry['type'] !== 'function') return note(faults, `${path}.type`, 'must be function');
  const { function: declared } = entry;
  if (!isObject(declared)) return note(faults, `${path}.function`, 'must be an object');
  const { name, description } = declared;
  if (!isCallableName(name)) return note(faults, `${path}.function.name`, NAME_RULE);
  if (description !== undefined && typeof description !== 'string') {
    return note(faults, `${path}.function.description`, 'must be a string');
  }
  if (!isObject(declared['parameters']))
    return note(faults, `${path}.function.parameters`, 'must be an object');
  if (Object.hasOwn(entry, 'route')) {
    const route = readRoute(entry['route'], name, `${path}.route`, faults);
    return (
      route && {
        kind: 'explicit',
        name,
        functionText: sourceText(declared),
        description,
        route,
        deferLoading,
      }
    );
  }
  if (reservedNamespace(name) !== undefined)
    return readKernelTool(declared, name, deferLoading, path, faults);
  return {
    kind: 'explicit',
    name,
    functionText: sourceText(declared),
    description,
    route: undefined,
    deferLoading,
  };
}

const NAME_RULE = 'must match ^[A-Za-z0-9_-]{1,64}$';

function readKernelTool(
  declared: Record<string, unknown>,
  name: string,
  deferLoading: boolean,
  path: string,
  faults: ConfigurationFaults,
): KernelDefinition | undefined {
  const tool = KERNEL_TOOLS.find((known) => known.name === name);
  if (!tool) {
    return note(
      faults,
      `${path}.function.name`,
      `names a reserved kernel namespace (${reservedNamespace(name) ?? ''})`,
    );
  }
  if (!isSameJson(declared, tool.definition.function)) {
    return note(faults, `${path}.function`, `must be byte-equal to the catalogue's ${name}`);
  }
  return {
    kind: 'kernel',
    name,
    canonicalName: tool.canonical_name,
    description: undefined,
    isAlias: false,
    deferLoading,
  };
}

function readAlias(
  entry: Record<string, unknown>,
  deferLoading: boolean,
  path: string,
  faults: ConfigurationFaults,
): KernelDefinition | undefined {
  const tool = KERNEL_TOOLS.find((known) => known.canonical_name === entry['canonical']);
  if (!tool) return note(faults, `${path}.canonical`, `must be one of ${canonicalNames()}`);
  const { function: assembled } = entry;
  const own = isObject(assembled)
    ? { fields: assembled, at: `${path}.function` }
    : { fields: entry, at: path };
  const { name, description } = own.fields;
  if (!isCallableName(name)) return note(faults, `${own.at}.name`, NAME_RULE);
  if (name !== tool.name && reservedNamespace(name) !== undefined) {
    return note(
      faults,
      `${own.at}.name`,
      `names a reserved kernel namespace (${reservedNamespace(name) ?? ''})`,
    );
  }
  if (description !== undefined && typeof description !== 'string') {
    return note(faults, `${own.at}.description`, 'must be a string');
  }
  if (own.fields !== entry && !isSameJson(own.fields['parameters'], tool.definition.function.parameters)) {
    return note(faults, `${own.at}.parameters`, `must be byte-equal to the catalogue's ${tool.name}`);
  }
  if (Object.hasOwn(entry, 'route')) {
    faults.add(`${path}.route`, 'may not lead a kernel tool away', 'invalid_tool_route');
    return undefined;
  }
  return {
    kind: 'kernel',
    name,
    canonicalName: tool.canonical_name,
    description,
    isAlias: true,
    deferLoading,
  };
}

/** The canonical names of the kernel tools that exist, for messages. */
export const canonicalNames = (): string =>
  KERNEL_TOOLS.map((tool: KernelTool) => tool.canonical_name).join(', ');

/** The same keys in the same order with the same values: the same bytes once insignificant whitespace is left out. */
const isSameJson = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/** The bytes an object was read from. */
function sourceText(value: object): string {
  const text = sourceOf(value);
  if (text === undefined) throw new Error('The object was not read by parseStrict');
  return text;
}

function note(faults: ConfigurationFaults, path: string, what: string): undefined {
  faults.add(path, what);
  return undefined;
}
