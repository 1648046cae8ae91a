import { writeJson } from '../../src/db/json-text.js';
import { statement } from '../../src/db/statement.js';
import { taskColumns, taskJson, type TaskRow } from '../../src/routing/task-row.js';
import type { TestNode } from '../support/node.js';
import type { InboxView, RunView, TaskView } from './views.js';
import { CLOCKS } from './world.js';

/** Reads what the product answers into the words of the model. */

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- what the wire carries is what is checked
type Wire = any;

/** Names for ids, both ways. */
export class Names {
  private readonly ids = new Map<string, string>();
  private readonly names = new Map<string, string>();

  add(name: string, id: string): void {
    this.ids.set(name, id);
    this.names.set(id, name);
  }

  /** An id that nothing has where the name is not known. */
  idOf(name: string): string {
    return this.ids.get(name) ?? '01990000-0000-7000-8000-00000000dead';
  }

  /** The id itself where nobody named it, which no model will expect. */
  nameOf(id: string): string;
  nameOf(id: string | undefined): string | undefined;
  nameOf(id: string | undefined): string | undefined {
    return id === undefined ? undefined : (this.names.get(id) ?? id);
  }
}

export function taskOfWire(task: Wire, names: Names): TaskView {
  const isKernels = task.addressed_to.role === 'kernel';
  return {
    run: names.nameOf(task.run_public_id as string),
    key: task.task_key,
    tool: task.tool_name,
    alias: task.tool_alias,
    status: task.status,
    generation: task.generation,
    profile: task.effect_profile,
    role: task.addressed_to.role,
    addressed: names.nameOf(task.addressed_to.executor_public_id),
    target: names.nameOf(task.target?.executor_public_id),
    claimed_by: names.nameOf(task.claimed_by?.executor_public_id),
    approval: task.approval && { origin: task.approval.origin, by: names.nameOf(task.approval.decided_by) },
    timeout: task.timeout_ms,
    error: task.error?.key === 'result_unstorable' ? { key: task.error.key } : task.error,
    is_error: task.is_error,
    content: isKernels ? undefined : task.content,
    recovery: task.recovery,
  };
}

export function runOfWire(run: Wire, names: Names): RunView {
  const { runner_effects: effects, tool_definitions: definitions } = run;
  const route = (definition: Wire) => names.nameOf(definition.route?.runner_executor_public_id) ?? null;
  return {
    name: names.nameOf(run.public_id as string),
    parent: names.nameOf(run.parent_run_public_id ?? undefined),
    status: run.status,
    is_completed: run.completed_at !== null,
    is_pruned: run.details_pruned_at !== undefined,
    mode: run.approval_mode,
    runner: names.nameOf(run.default_runner_executor_public_id ?? undefined) ?? null,
    callables:
      definitions &&
      Object.fromEntries(definitions.map((each: Wire) => [each.function.name, route(each)] as const)),
    effects: [effects.status, effects.reason ?? []].flat().join(' '),
    touched: effects.runners.map((first: Wire) =>
      [names.nameOf(first.runner_executor_public_id), first.task_key, first.checkpoint ?? []]
        .flat()
        .join(' '),
    ),
  };
}

export const inboxOfWire = (tasks: Wire[], names: Names): InboxView[] =>
  tasks.map((row) => ({
    kind: row.kind,
    run: names.nameOf(row.run_public_id as string),
    key: row.task_key,
    claimed: row.claimed,
    role: row.addressed_to.role,
  }));

type ObservedRow = TaskRow & {
  readonly is_open: boolean;
  readonly left_ms: number;
  readonly capture_generation: number | null;
  readonly capture_runner_id: string | null;
  readonly capture_checkpoint: string | null;
};

/** Every task of an account in order of acceptance, with its evidence and what is left of its time. */
const readTasks = statement<[adminId: string], ObservedRow>(
  'model_read_tasks',
  `select ${taskColumns('t')}, t.settled_at is null as is_open, t.capture_generation, t.capture_runner_id,
     t.capture_checkpoint::text as capture_checkpoint,
     (extract(epoch from t.deadline_at - clock_timestamp()) * 1000)::float8 as left_ms
   from members m join tasks t on t.account_id = m.account_id
   where m.id = $1 order by t.seq`,
);

/** The tasks of the account of an administrator, as the model's `observation` has them. */
export async function tasksNow(node: TestNode, adminId: string, names: Names): Promise<object[]> {
  const rows = await node.db.rows(readTasks, adminId);
  return rows.map((row) => ({
    ...taskOfWire(JSON.parse(writeJson(taskJson(row))), names),
    clock: row.is_open ? clockOf(row.left_ms) : undefined,
    capture:
      row.capture_generation === null
        ? undefined
        : {
            generation: row.capture_generation,
            runner: names.nameOf(row.capture_runner_id ?? undefined),
            checkpoint:
              row.capture_checkpoint === null ? undefined : (JSON.parse(row.capture_checkpoint) as string),
          },
  }));
}

const CLOCK_VALUES = [
  CLOCKS.kernelDefault,
  ...CLOCKS.steps,
  ...CLOCKS.announced,
  ...CLOCKS.extensions,
  CLOCKS.hold,
].sort((one, other) => one - other);

/** What a deadline was last set to, by what is left: far less than lies between two clocks has gone by. */
const clockOf = (left: number): number | 'due' | undefined =>
  left <= 0 ? 'due' : CLOCK_VALUES.find((clock) => left <= clock);
