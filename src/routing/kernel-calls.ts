import type { FrozenDeclaration } from '../assembly/frozen-declaration.js';
import type { KernelTool } from '../kernel/catalogue.js';
import { readSearch, searchTools } from './tool-search.js';

/** What a kernel tool answers: JSON texts, as a commit would have brought them; or why it could not run. */
export type KernelResult =
  { readonly contentText: string; readonly structuredContentText: string } | { readonly fault: string };

type Input = Readonly<Record<string, unknown>>;

/** What a kernel tool knows of its run; all of it is frozen. */
export interface KernelCallRun {
  readonly declaration: FrozenDeclaration;
  readonly defaultRunnerId: string | null;
}

/** The kernel tools that are run at acceptance, by wire name. */
const RUN_AT_ACCEPTANCE: Readonly<
  Record<string, (run: KernelCallRun, input: Input) => string | { readonly fault: string }>
> = {
  runners_list: runnersList,
  tool_search: toolSearch,
};

/** Runs a kernel tool that looks at nothing but its run; undefined for one that is run once its call is accepted. */
export function runKernelTool(name: string, run: KernelCallRun, input: Input): KernelResult | undefined {
  const answer = RUN_AT_ACCEPTANCE[name]?.(run, input);
  return typeof answer === 'string' ? kernelResult(answer) : answer;
}

/** A kernel tool's JSON answer: structured and, for models, the same JSON as text. */
export const kernelResult = (structuredContentText: string): KernelResult => ({
  contentText: JSON.stringify(structuredContentText),
  structuredContentText,
});

/** Whether a kernel tool is run once its call is accepted, since it looks beyond its run. */
export const isRunLater = ({ name, effect_profile }: KernelTool): boolean =>
  effect_profile !== 'of_called_tool' && !Object.hasOwn(RUN_AT_ACCEPTANCE, name);

/** `nexus.runners.list`: the run's frozen candidates, not what is live (chapter 3). */
function runnersList({ declaration, defaultRunnerId }: KernelCallRun): string {
  const rows = declaration.candidates.map(({ row }) => row.text);
  return `{"current_runner_executor_public_id":${JSON.stringify(defaultRunnerId)},"runners":[${rows.join(',')}]}`;
}

/** `nexus.tools.search` (chapter 6). */
function toolSearch({ declaration }: KernelCallRun, input: Input): string | { readonly fault: string } {
  const request = readSearch(input);
  return 'fault' in request ? request : searchTools(declaration, request);
}
