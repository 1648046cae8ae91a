import { createHash } from 'node:crypto';
import { refuse } from '../errors/refusal.js';
import { approvalRuleFaults } from '../kernel/approval-rules.js';
import { KERNEL_TOOLS } from '../kernel/catalogue.js';
import { unstorablePath } from '../kernel/json/scan.js';
import { JsonFault, parseStrict, sourceOf } from '../kernel/json/strict-parse.js';
import { isServedName, isUuid } from '../kernel/names.js';
import { APPROVAL_MODES, type ApprovalMode } from './approval-mode.js';
import type { Configuration, ToolDefinition } from './configuration.js';
import { ConfigurationFaults } from './configuration-faults.js';
import { CANONICAL_NAMES } from './kernel-tool-grammar.js';
import { readToolDefinition } from './tool-definition-grammar.js';
import { isObject } from '../kernel/json/is-object.js';

/**
 * Reads a configuration (chapter 4, Profile) from its JSON text. `root` is its path in the request, empty where it is
 * the body. Unknown fields are ignored.
 *
 * Throws `invalid_json` where two readers could read the text differently; else the first fault in document order,
 * all of them in `details`: `validation_failed`, `runner_target_required`, `invalid_tool_route`, and
 * `duplicate_tool_name` when two declared callables share a name.
 */
export function readConfiguration(text: string, root = ''): Configuration {
  const value = parseObject(text, root);
  const faults = new ConfigurationFaults(root);
  const unstorable = unstorablePath(value);
  if (unstorable !== undefined) faults.note(`.${unstorable}`, 'holds a NUL or a lone surrogate');
  const configuration: Configuration = {
    text,
    digest: createHash('sha256').update(text).digest('hex'),
    toolDefinitions: toolDefinitionsOf(value, faults),
    kernelTools: kernelToolsOf(value, faults),
    candidateIds: candidateIdsOf(value, faults),
    runnerToolNames: runnerToolNamesOf(value, faults),
    approvalMode: approvalModeOf(value, faults),
    approvalRulesText: approvalRulesOf(value, faults),
  };
  noteDoubleNames(configuration, faults);
  faults.refuseAny();
  return configuration;
}

function parseObject(text: string, root: string): Record<string, unknown> {
  try {
    const value = parseStrict(text);
    if (isObject(value)) return value;
  } catch (fault) {
    if (!(fault instanceof JsonFault)) throw fault;
    throw refuse(
      'invalid_json',
      root === '' || fault.path === '' ? fault.message : `${root}.${fault.message}`,
    );
  }
  throw refuse('parameter_missing', `${root === '' ? 'configuration' : root} must be an object`);
}

/** The elements of a list field with their places; an absent one is empty. Notes a fault where it is no list. */
function* elementsOf(
  value: Record<string, unknown>,
  field: string,
  faults: ConfigurationFaults,
): Generator<[unknown, ConfigurationFaults]> {
  const list = value[field];
  if (list === undefined) return;
  if (!Array.isArray(list)) return faults.note(`.${field}`, 'must be a list');
  for (const [index, element] of list.entries()) yield [element, faults.at(`.${field}[${index}]`)];
}

function toolDefinitionsOf(value: Record<string, unknown>, faults: ConfigurationFaults): ToolDefinition[] {
  const entries = [...elementsOf(value, 'tool_definitions', faults)];
  return entries.flatMap(([entry, place]) => readToolDefinition(entry, place) ?? []);
}

function kernelToolsOf(value: Record<string, unknown>, faults: ConfigurationFaults): string[] {
  const isKernelTool = (name: unknown): name is string =>
    KERNEL_TOOLS.some((tool) => tool.canonical_name === name);
  return uniqueOf(value, 'kernel_tools', isKernelTool, `must be one of ${CANONICAL_NAMES}`, faults);
}

function candidateIdsOf(value: Record<string, unknown>, faults: ConfigurationFaults): string[] {
  return uniqueOf(value, 'runner_executor_public_ids', isUuid, 'must be a UUID', faults);
}

/** The elements of a list without repetition, each of which `fits`. */
function uniqueOf(
  value: Record<string, unknown>,
  field: string,
  fits: (element: unknown) => element is string,
  rule: string,
  faults: ConfigurationFaults,
): string[] {
  const found = new Set<string>();
  for (const [element, place] of elementsOf(value, field, faults)) {
    if (!fits(element)) place.note('', rule);
    else if (found.has(element)) place.note('', `repeats ${element}`);
    else found.add(element);
  }
  return [...found];
}

function runnerToolNamesOf(
  value: Record<string, unknown>,
  faults: ConfigurationFaults,
): ReadonlySet<string> | null {
  if ((value['runner_tool_names'] ?? null) === null) return null;
  const names = new Set<string>();
  for (const [name, place] of elementsOf(value, 'runner_tool_names', faults)) {
    if (isServedName(name)) names.add(name);
    else place.note('', 'must be the name of a served tool');
  }
  return names;
}

function approvalModeOf(
  value: Record<string, unknown>,
  faults: ConfigurationFaults,
): ApprovalMode | undefined {
  const { approval_mode: mode } = value;
  if (mode === undefined || APPROVAL_MODES.includes(mode as ApprovalMode))
    return mode as ApprovalMode | undefined;
  return faults.note('.approval_mode', `must be one of ${APPROVAL_MODES.join(', ')}`);
}

function approvalRulesOf(value: Record<string, unknown>, faults: ConfigurationFaults): string | undefined {
  const { approval_rules: rules } = value;
  if (rules === undefined) return undefined;
  for (const { path, message } of approvalRuleFaults(rules, 'approval_rules')) {
    faults.note(`.${path}`, message.slice(path.length + 1));
  }
  return Array.isArray(rules) ? sourceOf(rules) : undefined;
}

/** Two declared callables of one name: what an import is called follows them, so it is not looked at here. */
function noteDoubleNames({ toolDefinitions, kernelTools }: Configuration, faults: ConfigurationFaults): void {
  const imported = KERNEL_TOOLS.filter((tool) => kernelTools.includes(tool.canonical_name));
  const names = new Set<string>();
  for (const { name } of [...toolDefinitions, ...imported]) {
    if (names.has(name)) faults.note('.tool_definitions', `declares ${name} twice`, 'duplicate_tool_name');
    names.add(name);
  }
}
