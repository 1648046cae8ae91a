import { createHash } from 'node:crypto';
import { refuse } from '../errors/refusal.js';
import { approvalRuleFaults } from '../kernel/approval-rules.js';
import { KERNEL_TOOLS } from '../kernel/catalogue.js';
import { unstorablePath } from '../kernel/json/unstorable.js';
import { JsonFault, parseStrict, sourceOf } from '../kernel/json/strict-parse.js';
import { isServedName, isUuid } from '../kernel/names.js';
import { APPROVAL_MODES, type ApprovalMode } from './approval-mode.js';
import type { Configuration, ToolDefinition } from './configuration.js';
import { ConfigurationFaults, isObject } from './configuration-faults.js';
import { canonicalNames, readToolDefinition } from './tool-definition-grammar.js';

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
  if (unstorable !== undefined) faults.add(unstorable, 'holds a NUL or a lone surrogate');
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
  refuseDoubleNames(configuration, faults);
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

/** The elements of a list field; an absent one is empty. Notes a fault where it is no list. */
function listOf(value: Record<string, unknown>, field: string, faults: ConfigurationFaults): unknown[] {
  const list = value[field] ?? [];
  if (value[field] !== null && Array.isArray(list)) return list;
  faults.add(field, 'must be a list');
  return [];
}

function toolDefinitionsOf(value: Record<string, unknown>, faults: ConfigurationFaults): ToolDefinition[] {
  return listOf(value, 'tool_definitions', faults).flatMap(
    (entry, index) => readToolDefinition(entry, `tool_definitions[${index}]`, faults) ?? [],
  );
}

function kernelToolsOf(value: Record<string, unknown>, faults: ConfigurationFaults): string[] {
  const known = new Set<unknown>(KERNEL_TOOLS.map((tool) => tool.canonical_name));
  const names = new Set<string>();
  for (const [index, name] of listOf(value, 'kernel_tools', faults).entries()) {
    const path = `kernel_tools[${index}]`;
    if (!known.has(name)) faults.add(path, `must be one of ${canonicalNames()}`);
    else if (names.has(name as string)) faults.add(path, `repeats ${name as string}`);
    else names.add(name as string);
  }
  return [...names];
}

function candidateIdsOf(value: Record<string, unknown>, faults: ConfigurationFaults): string[] {
  const ids = new Set<string>();
  for (const [index, id] of listOf(value, 'runner_executor_public_ids', faults).entries()) {
    const path = `runner_executor_public_ids[${index}]`;
    if (!isUuid(id)) faults.add(path, 'must be a UUID');
    else if (ids.has(id)) faults.add(path, `repeats ${id}`);
    else ids.add(id);
  }
  return [...ids];
}

function runnerToolNamesOf(
  value: Record<string, unknown>,
  faults: ConfigurationFaults,
): ReadonlySet<string> | null {
  if ((value['runner_tool_names'] ?? null) === null) return null;
  const names = new Set<string>();
  for (const [index, name] of listOf(value, 'runner_tool_names', faults).entries()) {
    if (isServedName(name)) names.add(name);
    else faults.add(`runner_tool_names[${index}]`, 'must be the name of a served tool');
  }
  return names;
}

function approvalModeOf(
  value: Record<string, unknown>,
  faults: ConfigurationFaults,
): ApprovalMode | undefined {
  const { approval_mode: mode } = value;
  if (mode === undefined) return undefined;
  if (APPROVAL_MODES.includes(mode as ApprovalMode)) return mode as ApprovalMode;
  faults.add('approval_mode', `must be one of ${APPROVAL_MODES.join(', ')}`);
  return undefined;
}

function approvalRulesOf(value: Record<string, unknown>, faults: ConfigurationFaults): string | undefined {
  const { approval_rules: rules } = value;
  if (rules === undefined) return undefined;
  for (const { path, message } of approvalRuleFaults(rules, 'approval_rules')) {
    faults.add(path, message.slice(path.length + 1));
  }
  return Array.isArray(rules) ? sourceOf(rules) : undefined;
}

/** Two declared callables of one name: what an import is called follows them, so it is not looked at here. */
function refuseDoubleNames(configuration: Configuration, faults: ConfigurationFaults): void {
  const kernelNames = KERNEL_TOOLS.filter((tool) => configuration.kernelTools.includes(tool.canonical_name));
  const names = new Set<string>();
  for (const { name } of [...configuration.toolDefinitions, ...kernelNames]) {
    if (names.has(name)) faults.add('tool_definitions', `declares ${name} twice`, 'duplicate_tool_name');
    names.add(name);
  }
}
