import type { FrozenDeclaration } from '../assembly/frozen-declaration.js';

/** What a kernel tool answers: JSON texts, as a commit would have brought them. */
export interface KernelResult {
  readonly contentText: string;
  readonly structuredContentText: string;
}

/** What a kernel tool knows of its run; all of it is frozen. */
export interface KernelCallRun {
  readonly declaration: FrozenDeclaration;
  readonly defaultRunnerId: string | null;
}

/** The kernel tools that are run at acceptance, by wire name. */
const RUN_AT_ACCEPTANCE: Readonly<Record<string, (run: KernelCallRun) => string>> = {
  runners_list: runnersList,
};

/** Runs a kernel tool. Its result is both structured and, for models, the same JSON as text. */
export function runKernelTool(name: string, run: KernelCallRun): KernelResult {
  const tool = RUN_AT_ACCEPTANCE[name];
  if (!tool) throw new Error(`The kernel catalogue has ${name}, which nothing runs`);
  const structuredContentText = tool(run);
  return { contentText: JSON.stringify(structuredContentText), structuredContentText };
}

/** `nexus.runners.list`: the run's frozen candidates, not what is live (chapter 3). */
function runnersList({ declaration, defaultRunnerId }: KernelCallRun): string {
  const rows = declaration.candidates.map(({ row }) => row.text);
  return `{"current_runner_executor_public_id":${JSON.stringify(defaultRunnerId)},"runners":[${rows.join(',')}]}`;
}
