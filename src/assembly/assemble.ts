import type { AnnouncementRecord, ServedTool } from '../announcement/announcement-directory.js';
import { isForModels, SKILL } from '../announcement/for-models.js';
import { refuse } from '../errors/refusal.js';
import { KERNEL_TOOLS } from '../kernel/catalogue.js';
import type { Configuration, ExplicitDefinition, KernelDefinition } from './configuration.js';
import { type Assembled, freeze } from './declaration.js';
import { definitionText, describedFunctionText, functionText } from './definition-text.js';
import { importedName } from './qualified-name.js';
import { contributesSkill, skillDescriptionText, skillParametersText } from './skill-callable.js';

/** A runner eligible for the member, with what it announces just now; nothing when it never announced. */
export interface EligibleRunner {
  readonly id: string;
  readonly displayName: string;
  readonly announcement: AnnouncementRecord | undefined;
}

export interface AssemblyFacts {
  readonly configuration: Configuration;
  /** The selected runner; only it contributes imported tools. */
  readonly defaultRunnerId: string | null;
  /** Whether the selected runner must be a candidate. A human's run without a configuration has none to name it in. */
  readonly namesCandidates: boolean;
  /** Those of the named runners that are eligible for the member, by id. */
  readonly eligible: ReadonlyMap<string, EligibleRunner>;
}

interface Callable {
  readonly name: string;
  readonly text: string;
}

/**
 * What a run receives (chapter 4): a pure function of its facts, so that a preview and a frozen declaration agree.
 * Throws, in this order: `runner_not_declared` and `runner_not_eligible` for the selected runner; `runner_not_eligible`
 * and `tool_not_served` for explicit routes; `duplicate_tool_name`; `content_too_large`.
 */
export function assemble(facts: AssemblyFacts): Assembled {
  const { configuration, eligible } = facts;
  const selected = selectedRunner(facts);
  const declared = [
    ...configuration.toolDefinitions.map((definition, index) =>
      definition.kind === 'kernel'
        ? kernelCallable(definition)
        : explicitCallable(definition, `configuration.tool_definitions[${index}].route`, eligible),
    ),
    ...configuration.kernelTools.map(importedKernelCallable),
  ];
  const taken = new Set(declared.map(({ name }) => name));
  const contributes = selected && configuration.candidateIds.includes(selected.id);
  const imported = contributes ? importedCallables(selected, configuration.runnerToolNames, taken) : [];
  const callables = [...declared, ...imported].sort(byName);
  refuseDoubles(callables);
  return freeze(
    `[${callables.map(({ text }) => text).join(',')}]`,
    environmentText(selected, addressedRunners(facts), candidates(facts)),
  );
}

/** Every runner that a configuration names, the selected one first: those whose eligibility an assembly asks for. */
export function namedRunnerIds(configuration: Configuration, defaultRunnerId: string | null): string[] {
  const routed = configuration.toolDefinitions.flatMap((definition) =>
    definition.kind === 'explicit' && definition.route ? [definition.route.runnerId] : [],
  );
  const selected = defaultRunnerId === null ? [] : [defaultRunnerId];
  return [...new Set([...selected, ...configuration.candidateIds, ...routed])];
}

function selectedRunner({ configuration, defaultRunnerId, namesCandidates, eligible }: AssemblyFacts) {
  if (defaultRunnerId === null) return undefined;
  const field = 'default_runner_executor_public_id';
  if (namesCandidates && !configuration.candidateIds.includes(defaultRunnerId)) {
    throw refuse(
      'runner_not_declared',
      `${field} is not among the runner_executor_public_ids of the configuration`,
    );
  }
  const runner = eligible.get(defaultRunnerId);
  if (!runner)
    throw refuse('runner_not_eligible', `${field} names no runner that is eligible for this member`);
  return runner;
}

function explicitCallable(
  definition: ExplicitDefinition,
  path: string,
  eligible: ReadonlyMap<string, EligibleRunner>,
): Callable {
  const { name, route, deferLoading } = definition;
  if (!route) return { name, text: definitionText({ functionText: definition.functionText, deferLoading }) };
  const { runnerId, toolName } = route;
  const runner = eligible.get(runnerId);
  if (!runner)
    throw refuse('runner_not_eligible', `${path} names no runner that is eligible for this member`);
  const announcement = runner.announcement;
  const served = announcement?.tools.get(toolName);
  if (!announcement || !served)
    throw refuse('tool_not_served', `${path} names ${toolName}, which its runner does not serve`);
  const skill = toolName === SKILL && contributesSkill(announcement) ? announcement : undefined;
  if (!served.modelVisible && !skill) {
    throw refuse('tool_not_served', `${path} names ${toolName}, which its runner serves to people only`);
  }
  const described = describedSkill(definition, skill);
  return {
    name,
    text: definitionText({
      functionText: described,
      route,
      deferLoading,
      documentsText: skill?.documentsText.text,
    }),
  };
}

/** The author's `function`; one for a skill that says nothing about itself gets the description of the skill. */
function describedSkill(definition: ExplicitDefinition, skill: AnnouncementRecord | undefined): string {
  if (!skill || definition.description !== undefined) return definition.functionText;
  const text = skillDescriptionText(skill.tools.get(SKILL), skill.documents);
  return describedFunctionText(definition.functionText, text);
}

function kernelCallable({
  name,
  canonicalName,
  description,
  isAlias,
  deferLoading,
}: KernelDefinition): Callable {
  const declared = kernelFunction(canonicalName);
  const text = JSON.stringify({ ...declared, name, description: description ?? declared.description });
  return {
    name,
    text: definitionText({
      functionText: text,
      canonicalName: isAlias ? canonicalName : undefined,
      deferLoading,
    }),
  };
}

function importedKernelCallable(canonicalName: string): Callable {
  const declared = kernelFunction(canonicalName);
  return { name: declared.name, text: definitionText({ functionText: JSON.stringify(declared) }) };
}

function kernelFunction(canonicalName: string): { name: string; description: string; parameters: object } {
  const tool = KERNEL_TOOLS.find((known) => known.canonical_name === canonicalName);
  if (!tool) throw new Error(`The grammar admitted ${canonicalName}, which is no kernel tool`);
  return tool.definition.function;
}

/** The selected runner's model-visible tools, narrowed by `runner_tool_names`, and its skill callable. */
function importedCallables(
  runner: EligibleRunner,
  only: ReadonlySet<string> | null,
  taken: ReadonlySet<string>,
): Callable[] {
  const { announcement } = runner;
  if (!announcement) return [];
  const tools = [...announcement.tools.values()].filter(
    (tool) => (only === null || only.has(tool.name)) && isForModels(tool, announcement),
  );
  return tools.map((tool) => importedCallable(tool, announcement, importedName(runner.id, tool.name, taken)));
}

function importedCallable(tool: ServedTool, announcement: AnnouncementRecord, name: string): Callable {
  const route = { runnerId: announcement.executorId, toolName: tool.name };
  const skill = tool.name === SKILL && contributesSkill(announcement);
  if (!skill) {
    const text = functionText(name, tool.descriptionText ?? '', tool.inputSchemaText ?? '');
    return { name, text: definitionText({ functionText: text, route }) };
  }
  const { documents, documentsText } = announcement;
  const text = functionText(
    name,
    skillDescriptionText(tool, documents),
    skillParametersText(tool, documents),
  );
  return { name, text: definitionText({ functionText: text, route, documentsText: documentsText.text }) };
}

/** By code unit: callable names are ASCII. */
function byName(one: Callable, other: Callable): number {
  if (one.name === other.name) return 0;
  return one.name < other.name ? -1 : 1;
}

function refuseDoubles(sorted: readonly Callable[]): void {
  const double = sorted.find(({ name }, index) => sorted[index + 1]?.name === name);
  if (double) throw refuse('duplicate_tool_name', `tool_definitions has two callables named ${double.name}`);
}

/** The eligible candidates, in the configured order. */
const candidates = ({ configuration, eligible }: AssemblyFacts): EligibleRunner[] =>
  configuration.candidateIds.flatMap((id) => eligible.get(id) ?? []);

/** The runners that calls of this declaration may reach: the selected one, then those of explicit routes. */
function addressedRunners({ configuration, defaultRunnerId, eligible }: AssemblyFacts): EligibleRunner[] {
  const ids = namedRunnerIds({ ...configuration, candidateIds: [] }, defaultRunnerId);
  return ids.flatMap((id) => eligible.get(id) ?? []);
}

function environmentText(
  selected: EligibleRunner | undefined,
  executors: readonly EligibleRunner[],
  runnerCandidates: readonly EligibleRunner[],
): string {
  return `{"default_runner_executor_public_id":${JSON.stringify(selected?.id ?? null)},"executors":[${executors
    .map(rowText)
    .join(',')}],"runner_candidates":[${runnerCandidates.map(rowText).join(',')}]}`;
}

function rowText({ id, displayName, announcement }: EligibleRunner): string {
  const environment = announcement?.environment.text ?? '{}';
  return `{"runner_executor_public_id":"${id}","display_name":${JSON.stringify(displayName)},"environment":${environment}}`;
}
