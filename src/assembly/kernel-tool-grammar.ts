import { KERNEL_TOOLS } from '../kernel/catalogue.js';
import { isCallableName } from '../kernel/names.js';
import { reservedNamespace } from '../kernel/reserved-names.js';
import type { KernelDefinition } from './configuration.js';
import { type ConfigurationFaults } from './configuration-faults.js';
import { isObject } from '../kernel/json/is-object.js';

/** What a callable's name must do, for messages. */
export const NAME_RULE = 'must match ^[A-Za-z0-9_-]{1,64}$';

/** The canonical names of the kernel tools that exist, for messages. */
export const CANONICAL_NAMES = KERNEL_TOOLS.map((tool) => tool.canonical_name).join(', ');

/** Reads the `function` of a kernel tool under its own name: byte-equal to the catalogue, whitespace apart (chapter 4). */
export function readKernelTool(
  declared: Record<string, unknown>,
  deferLoading: boolean,
  faults: ConfigurationFaults,
): KernelDefinition | undefined {
  const tool = KERNEL_TOOLS.find(({ name }) => name === declared['name']);
  if (!tool) return noteReserved(String(declared['name']), '.name', faults);
  const { name, canonical_name: canonicalName, definition } = tool;
  if (!isSameJson(declared, definition.function)) {
    return faults.note('', `must be byte-equal to the catalogue's ${name}`);
  }
  return { kind: 'kernel', name, canonicalName, description: undefined, isAlias: false, deferLoading };
}

/**
 * Reads an alias of a kernel tool: `{name, canonical, description?, defer_loading?}`, or the shape in which an assembly
 * answers one, with `function` in place of name and description, so that what was assembled may be declared.
 */
export function readAlias(
  entry: Record<string, unknown>,
  deferLoading: boolean,
  faults: ConfigurationFaults,
): KernelDefinition | undefined {
  const tool = KERNEL_TOOLS.find((known) => known.canonical_name === entry['canonical']);
  if (!tool) return faults.note('.canonical', `must be one of ${CANONICAL_NAMES}`);
  if (Object.hasOwn(entry, 'route')) {
    return faults.note('.route', 'may not lead a kernel tool away', 'invalid_tool_route');
  }
  const { function: assembled } = entry;
  const declared = isObject(assembled) ? assembled : entry;
  const place = declared === entry ? faults : faults.at('.function');
  const { name, description, parameters } = declared;
  if (!isCallableName(name)) return place.note('.name', NAME_RULE);
  if (name !== tool.name && reservedNamespace(name) !== undefined) return noteReserved(name, '.name', place);
  if (description !== undefined && typeof description !== 'string') {
    return place.note('.description', 'must be a string');
  }
  if (declared !== entry && !isSameJson(parameters, tool.definition.function.parameters)) {
    return place.note('.parameters', `must be byte-equal to the catalogue's ${tool.name}`);
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

function noteReserved(name: string, step: string, faults: ConfigurationFaults): undefined {
  return faults.note(step, `names a reserved kernel namespace (${reservedNamespace(name) ?? ''})`);
}

/** The same keys in the same order with the same values: the same bytes, insignificant whitespace left out. */
const isSameJson = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);
