import type { FrozenDeclaration } from '../assembly/frozen-declaration.js';
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

/** Runs a kernel tool. Its result is both structured and, for models, the same JSON as text. */
export function runKernelTool(name: string, run: KernelCallRun, input: Input): KernelResult {
  const tool = RUN_AT_ACCEPTANCE[name];
  if (!tool) throw new Error(`The kernel catalogue has ${name}, which nothing runs`);
  const structuredContentText = tool(run, input);
  if (typeof structuredContentText !== 'string') return structuredContentText;
  return { contentText: JSON.stringify(structuredContentText), structuredContentText };
}

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
