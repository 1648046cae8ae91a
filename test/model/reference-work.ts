import type { Actor, Answer, Of } from './command.js';
import { isEligible, Refused, servesTo } from './reference-routing.js';
import { expire, settle } from './reference-transitions.js';
import { type ClaimView, taskView, type TaskView } from './views.js';
import { isNamed, REGISTRATIONS, type Run, type State, type Task } from './world.js';

/** Chapter 6 from Claim to Progress, as the reference model reads it: what an executor does with a call. */

/** Chapter 1: a credential of an older epoch, or of a revoked executor, is `unauthorized`. */
export function authenticate(state: State, { name, epoch }: Actor): void {
  const executor = state.executors[name];
  if (executor.isRevoked || executor.epoch !== epoch) throw new Refused('401 unauthorized');
}

type ByExecutor = Of<'claim' | 'claim_status' | 'progress' | 'extend' | 'commit'>;

export function byExecutor(state: State, command: ByExecutor, isRacing: boolean): Answer['body'] {
  // chapter 5: a claim that was let in before the executor was revoked is told so
  if (isRacing && command.verb === 'claim' && state.executors[command.as.name].isRevoked) {
    throw new Refused('401 unauthorized', '409 executor_revoked', '409 not_addressed_here');
  }
  authenticate(state, command.as);
  if (command.verb === 'extend' && command.timeout < 1) throw new Refused('422 invalid_timeout_ms');
  const run = state.runs.find(({ name }) => name === command.run);
  if (run?.isPruned) throw new Refused('410 execution_details_pruned');
  const task = state.tasks.find((candidate) => isNamed(candidate, command));
  if (!run || !task) throw new Refused('404 not_found');
  if (command.verb === 'claim') return claim(state, run, task, command);
  if (command.verb === 'extend') return extend(task, command);
  if (command.verb === 'commit') return commit(task, command);
  if (!holds(task, command)) throw new Refused('409 not_claimant');
  const isActive = task.status === 'dispatched' && task.clock !== 'due';
  return command.verb === 'progress' ? undefined : { active: isActive };
}

/** The claim of this generation, by this executor at this epoch, with this token. */
const holds = ({ claim: held }: Task, { as, token }: ByExecutor): boolean =>
  held?.by === as.name && held.epoch === as.epoch && held.token === token;

function claim(state: State, run: Run, task: Task, { as, token }: Of<'claim'>): ClaimView {
  const { name, epoch } = as;
  const { agent, kind } = REGISTRATIONS[name];
  if (task.status === 'needs_approval' && agent === run.principal)
    throw new Refused('409 not_claimable_kind');
  const isServing = servesTo(state, name, task.tool, task.isOfAgent);
  const isPooled = task.role === 'tool_provider' && kind === 'tool_provider' && isServing;
  if (task.addressed !== name && task.claim?.by !== name && !isPooled)
    throw new Refused('409 not_addressed_here');
  const gone = task.error?.key ?? '';
  if (task.status === 'failed' && !task.claim && ['executor_revoked', 'tool_not_served'].includes(gone)) {
    throw new Refused(`409 ${gone}`);
  }
  if (task.status !== 'dispatched' || task.clock === 'due') throw new Refused('409 task_not_claimable');
  if (task.claim) {
    if (task.claim.by !== name || task.claim.token !== token) throw new Refused('409 already_claimed');
    if (task.claim.epoch !== epoch) throw new Refused('409 stale_claim');
    return { task: taskView(task), token };
  }
  if (!isEligible(state, name, run.principal)) throw new Refused('409 not_eligible');
  if (!isServing) {
    const isForPeople = state.executors[name].tools[task.tool] !== undefined;
    const detail = isForPeople ? { detail: 'only people call this tool now' } : {};
    settle(task, 'failed', { key: 'tool_not_served', ...detail });
    throw new Refused('409 tool_not_served');
  }
  task.claim = { by: name, epoch, token };
  task.clock = task.timeout;
  if (task.role === 'runner' && task.profile.kind === 'write') {
    const order = state.tasks.filter(({ run: of, capture }) => of === task.run && capture).length;
    task.capture ??= { generation: task.generation, runner: name, order };
  }
  return { task: taskView(task), token };
}

function extend(task: Task, command: Of<'extend'>): ClaimView {
  const { as, token, timeout } = command;
  if (timeout > task.bound) throw new Refused('409 extension_too_long');
  const { claim: held } = task;
  if (task.status !== 'dispatched' || !held || task.clock === 'due') throw new Refused('409 not_extendable');
  if (held.by !== as.name || held.token !== token) throw new Refused('409 not_claimant');
  if (held.epoch !== as.epoch) throw new Refused('409 stale_claim');
  task.clock = timeout;
  return { task: taskView(task), token };
}

function commit(task: Task, command: Of<'commit'>): TaskView {
  const { as, result, checkpoint } = command;
  const isPooled =
    task.role === 'tool_provider' && REGISTRATIONS[as.name].kind === 'tool_provider' && !task.claim;
  if (task.addressed !== as.name && task.claim?.by !== as.name && !isPooled) {
    throw new Refused('409 not_addressed_here');
  }
  if (task.status === 'needs_approval' || !task.claim) throw new Refused('409 task_not_running');
  if (!holds(task, command)) throw new Refused('409 stale_claim');
  const isLate = task.clock === 'due';
  if (task.status !== 'dispatched') {
    if (['timed_out', 'uncertain', 'canceled'].includes(task.status)) keep();
    return taskView(task);
  }
  if (result === 'bad' && !isLate) throw new Refused('422 invalid_title');
  keep();
  if (isLate) {
    expire(task);
    return taskView(task);
  }
  if (result === 'unstorable') {
    settle(task, 'failed', { key: 'result_unstorable' });
    throw new Refused('422 result_unstorable');
  }
  settle(
    task,
    result === 'failed' ? 'failed' : 'completed',
    result === 'failed' ? { key: 'tool_failed' } : undefined,
  );
  task.content = 'done';
  task.isError = result === 'failed' ? undefined : result === 'is_error';
  return taskView(task);

  /** Of the capture's own generation, once. */
  function keep(): void {
    if (checkpoint === undefined || task.capture?.generation !== task.generation) return;
    task.capture.checkpoint ??= checkpoint;
  }
}
