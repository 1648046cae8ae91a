import { JsonText } from '../db/json-text.js';
import { KERNEL_TOOLS } from '../kernel/catalogue.js';
import { elementTexts, memberTexts } from '../kernel/json/scan.js';
import type { RunnerRoute } from './configuration.js';

/** One callable of a frozen declaration. */
export interface FrozenCallable {
  readonly name: string;
  /** The served tool its calls go to; absent for kernel tools and for names that are addressed at acceptance. */
  readonly route?: RunnerRoute;
  /** The kernel tool it is, under its own name or as an alias. */
  readonly canonical?: string;
  readonly definitionText: string;
}

/** A candidate as it was when the run was made: what `runners_list` shows (chapter 3). */
export interface FrozenCandidate {
  readonly runnerId: string;
  /** `{runner_executor_public_id, display_name, environment}` */
  readonly row: JsonText;
}

/** A run's declaration, read back from the two texts that `assemble` wrote. Immutable. */
export class FrozenDeclaration {
  private constructor(
    readonly callables: ReadonlyMap<string, FrozenCallable>,
    readonly candidates: readonly FrozenCandidate[],
    readonly defaultRunnerId: string | null,
  ) {}

  static read(toolDefinitionsText: string, environmentText: string): FrozenDeclaration {
    const callables = elementTexts(toolDefinitionsText).map(readCallable);
    const environment = memberTexts(environmentText);
    return new FrozenDeclaration(
      new Map(callables.map((callable) => [callable.name, callable])),
      elementTexts(environment.get('runner_candidates') ?? '[]').map(readCandidate),
      JSON.parse(environment.get('default_runner_executor_public_id') ?? 'null') as string | null,
    );
  }

  /** Whether some callable leads to this tool at this runner: what a continuation may address (chapter 5). */
  reaches(runnerId: string, toolName: string): boolean {
    for (const { route } of this.callables.values()) {
      if (route?.runnerId === runnerId && route.toolName === toolName) return true;
    }
    return false;
  }

  /** The `tool_definitions` with only these callables, each as it was frozen. */
  narrowedTo(names: ReadonlySet<string>): JsonText {
    const kept = [...this.callables.values()].filter(({ name }) => names.has(name));
    return new JsonText(`[${kept.map(({ definitionText }) => definitionText).join(',')}]`);
  }
}

function readCallable(definitionText: string): FrozenCallable {
  const members = memberTexts(definitionText);
  const name = JSON.parse(memberTexts(members.get('function') ?? '{}').get('name') ?? '""') as string;
  const routeText = members.get('route');
  if (routeText !== undefined) return { name, route: readRoute(routeText), definitionText };
  const canonical = canonicalOf(members.get('canonical'), name);
  return canonical === undefined ? { name, definitionText } : { name, canonical, definitionText };
}

function readRoute(text: string): RunnerRoute {
  const { runner_executor_public_id: runnerId, tool_name: toolName } = JSON.parse(text) as Record<
    string,
    string
  >;
  return { runnerId: runnerId ?? '', toolName: toolName ?? '' };
}

function canonicalOf(text: string | undefined, name: string): string | undefined {
  if (text !== undefined) return JSON.parse(text) as string;
  return KERNEL_TOOLS.find((tool) => tool.name === name)?.canonical_name;
}

function readCandidate(row: string): FrozenCandidate {
  const runnerId = JSON.parse(memberTexts(row).get('runner_executor_public_id') ?? '""') as string;
  return { runnerId, row: new JsonText(row) };
}
