import { isEligible, servesTo } from './reference-routing.js';
import {
  EXECUTORS,
  type ExecutorName,
  isOpen,
  REGISTRATIONS,
  type Run,
  type State,
  type Task,
} from './world.js';

/** What the chapters say is shown: the model's answers in the shape that `wire.ts` reads real ones to. */

/** A task (chapter 5, Shapes), with names for ids and without times. */
export interface TaskView {
  readonly run: string;
  readonly key: string;
  readonly tool: string;
  readonly alias: string | undefined;
  readonly status: string;
  readonly generation: number;
  readonly profile: object;
  readonly role: string;
  readonly addressed: string | undefined;
  readonly target: string | undefined;
  readonly claimed_by: string | undefined;
  readonly approval: { readonly origin: string; readonly by?: string | undefined } | undefined;
  readonly timeout: number;
  readonly error: { readonly key: string; readonly detail?: string | undefined } | undefined;
  readonly is_error: boolean | undefined;
  readonly content: string | undefined;
  readonly recovery: string | undefined;
}

export interface ClaimView {
  readonly task: TaskView;
  readonly token: string;
}

export interface RunView {
  readonly name: string;
  readonly parent: string | undefined;
  readonly status: string;
  readonly is_completed: boolean;
  readonly is_pruned: boolean;
  readonly mode: string;
  readonly runner: string | null;
  /** Each callable with its runner; null without a route. Absent once it is pruned. */
  readonly callables: Readonly<Record<string, string | null>> | undefined;
  readonly effects: string;
  /** `<runner> <key> <checkpoint>`, by claim time. */
  readonly touched: readonly string[];
}

export interface InboxView {
  readonly kind: string;
  readonly run: string;
  readonly key: string;
  readonly claimed: boolean;
  readonly role: string;
}

export function taskView(task: Task): TaskView {
  const { run, key, tool, alias, status, generation, profile, role, addressed, timeout, claim } = task;
  return {
    run,
    key,
    tool,
    alias,
    status,
    generation,
    profile: { ...profile },
    role,
    addressed,
    target: role === 'runner' ? addressed : undefined,
    claimed_by: claim?.by,
    approval: task.approval && { ...task.approval },
    timeout,
    error: shownError(task),
    is_error: task.isError,
    // what the kernel's own tools answer is not followed
    content: role === 'kernel' ? undefined : task.content,
    recovery: status === 'uncertain' ? recoveryOf(task) : undefined,
  };
}

/** What PostgreSQL or a tool words is not followed. */
const shownError = ({ error }: Task): TaskView['error'] =>
  error?.key === 'result_unstorable' ? { key: error.key } : error && { ...error };

/** Chapter 6, Expiry: `retry_with_same_key` when keyed, else `lookup`, else absent. */
function recoveryOf({ profile }: Task): string | undefined {
  if (profile.idempotency === 'keyed') return 'retry_with_same_key';
  return profile.reconciliation === 'lookup' ? 'lookup' : undefined;
}

export function runView(state: State, run: Run): RunView {
  const tasks = state.tasks.filter((task) => task.run === run.name);
  const isOpenYet = run.isPruned ? run.prunedAs === 'open' : tasks.length === 0 || tasks.some(isOpen);
  const touched = run.isPruned ? [] : touchedBy(tasks);
  const effects = touched.length > 0 ? 'touched' : 'untouched';
  return {
    name: run.name,
    parent: run.parent,
    status: run.isStopped ? 'stopped' : isOpenYet ? 'open' : 'completed',
    is_completed: !isOpenYet,
    is_pruned: run.isPruned,
    mode: run.mode,
    runner: run.runner,
    callables: run.isPruned ? undefined : { ...run.callables },
    effects: run.isPruned ? 'unavailable execution_details_pruned' : effects,
    touched,
  };
}

/** The first claimed write for each runner, by claim time (chapter 7). */
function touchedBy(tasks: readonly Task[]): string[] {
  const captured = tasks
    .flatMap(({ key, capture }) => (capture ? [{ key, ...capture }] : []))
    .sort((one, other) => one.order - other.order);
  const first = EXECUTORS.flatMap((name) => captured.find(({ runner }) => runner === name) ?? []);
  return first
    .sort((one, other) => one.order - other.order)
    .map(({ runner, key, checkpoint }) => [runner, key, checkpoint ?? []].flat().join(' '));
}

/** Chapter 6, Inbox: complete, oldest first. */
export function inboxOf(state: State, name: ExecutorName): InboxView[] {
  const { kind, agent } = REGISTRATIONS[name];
  const principal = ({ run }: Task) =>
    (state.runs.find((candidate) => candidate.name === run) as Run).principal;
  const isListed = (task: Task): boolean => {
    if (task.clock === 'due') return false;
    if (task.status === 'needs_approval') return agent === principal(task);
    if (task.status !== 'dispatched') return false;
    if (task.addressed === name || task.claim?.by === name) return true;
    const isPooled = task.role === 'tool_provider' && kind === 'tool_provider' && !task.claim;
    return (
      isPooled && servesTo(state, name, task.tool, task.isOfAgent) && isEligible(state, name, principal(task))
    );
  };
  return state.tasks.filter(isListed).map((task) => ({
    kind: task.status === 'needs_approval' ? 'approval' : 'tool_call',
    run: task.run,
    key: task.key,
    claimed: task.claim !== undefined,
    role: task.role,
  }));
}
