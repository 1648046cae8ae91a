import type { Answer, Command, Of, OnTask } from './command.js';
import {
  clockOf,
  denied,
  granted,
  isEligible,
  isLooser,
  judge,
  personOf,
  placeOf,
  Refused,
  sameTarget,
  sees,
  stageOf,
  type Step,
} from './reference-routing.js';
import { become, expire, settle } from './reference-transitions.js';
import { authenticate, byExecutor } from './reference-work.js';
import { inboxOf, type RunView, runView, taskView, type TaskView } from './views.js';
import {
  EXECUTORS,
  type ExecutorName,
  isNamed,
  isOpen,
  type Member,
  REGISTRATIONS,
  RULES,
  type Run,
  type State,
  type Task,
} from './world.js';

type Body = Answer['body'];

/** Does what the chapters say: changes `state`, and answers. `isRacing`: another command runs at the same time. */
export function apply(state: State, command: Command, isRacing = false): Answer {
  try {
    return { outcomes: [successOf(command)], body: act(state, command, isRacing) };
  } catch (fault) {
    if (fault instanceof Refused) return { outcomes: fault.codes };
    throw fault;
  }
}

/**
 * What an approval may also come to that runs beside something which made the call rest with another entry than `before`: it
 * changes nothing, since nobody was asked about that.
 */
export function overtaken(before: State, state: State, command: Command): Answer | undefined {
  if (command.verb !== 'approve') return undefined;
  const [asked, now] = [before, state].map(({ tasks }) => tasks.find((task) => isNamed(task, command)));
  if (now?.status !== 'needs_approval' || now.restsWith === asked?.restsWith) return undefined;
  const { outcomes } = apply(structuredClone(state), command);
  return outcomes.includes('200') ? { outcomes, body: taskView(now) } : undefined;
}

const successOf = ({ verb }: Command): string => {
  if (verb === 'create_run' || verb === 'accept') return '201';
  return verb === 'progress' ? '202' : '200';
};

function act(state: State, command: Command, isRacing: boolean): Body {
  switch (command.verb) {
    case 'create_run':
      return createRun(state, command);
    case 'accept':
      return accept(state, command);
    case 'read_run':
      return runView(state, runSeenBy(state, command.by, command.run));
    case 'read_task':
      return taskView(taskSeenBy(state, command).task);
    case 'approvals':
      return approvals(state, command.by);
    case 'stop':
      return stop(state, command);
    case 'set_default':
      return setDefault(state, command);
    case 'approve':
    case 'deny':
      return decide(state, command);
    case 'retry':
      return retry(state, command);
    case 'cancel':
      return cancel(state, command);
    case 'announce':
      authenticate(state, command.as);
      state.executors[command.as.name].tools = command.tools;
      return undefined;
    case 'revoke':
    case 're_pair':
    case 'shutdown':
    case 'resume':
      return administer(state, command.verb, command.executor);
    case 'expire':
      for (const task of state.tasks) if (isNamed(task, command) && isOpen(task)) task.clock = 'due';
      return undefined;
    case 'sweep':
      for (const task of state.tasks) if (task.clock === 'due') expire(task);
      return undefined;
    case 'age':
      return age(state, command.run);
    case 'prune':
      return prune(state);
    default:
      return byExecutor(state, command, isRacing);
  }
}

/* Chapter 5 */

function runSeenBy(state: State, by: Member, name: string): Run {
  const run = state.runs.find((candidate) => candidate.name === name);
  if (!run || !sees(by, run.principal)) throw new Refused('404 not_found');
  return run;
}

function detailSeenBy(state: State, by: Member, name: string): Run {
  const run = runSeenBy(state, by, name);
  if (run.isPruned) throw new Refused('410 execution_details_pruned');
  return run;
}

function taskSeenBy(state: State, command: OnTask & { by: Member }): { run: Run; task: Task } {
  const run = detailSeenBy(state, command.by, command.run);
  const task = state.tasks.find((candidate) => isNamed(candidate, command));
  if (!task) throw new Refused('404 not_found');
  return { run, task };
}

/** Hosts: creation assembles (chapter 4) and freezes; a continuation copies, and may only narrow and tighten. */
function createRun(state: State, command: Of<'create_run'>): RunView {
  const { by, name, mode, rules } = command;
  const fresh = { name, principal: by, isStopped: false, isPruned: false, isOld: false };
  const run = command.parent === undefined ? freshRun() : child(command.parent);
  state.runs.push(run);
  return runView(state, run);

  function freshRun(): Run {
    const { floor } = personOf(by);
    if (command.inConversation && by !== 'ada') throw new Refused('404 not_found');
    const inherited = command.inConversation ? state.conversationDefault : null;
    const runner = command.runner === undefined ? inherited : command.runner;
    const faults: string[] = [];
    const isRunner = runner !== null && REGISTRATIONS[runner].kind === 'runner';
    if (runner !== null && !(isRunner && isEligible(state, runner, by)))
      faults.push('422 runner_not_eligible');
    const chosen = mode ?? floor ?? 'bypass';
    if (floor !== undefined && isLooser(chosen, floor)) faults.push('403 approval_floor');
    if (faults.length > 0) throw new Refused(...faults);
    const served = runner === null ? [] : Object.entries(state.executors[runner].tools);
    const imported = served
      .filter(([, { isDescribed }]) => isDescribed)
      .map(([tool]) => [tool, runner] as const);
    const callables = { ...Object.fromEntries(imported), find: null };
    const isInConversation = command.inConversation;
    return { ...fresh, isInConversation, runner, mode: chosen, rules: RULES[rules], callables };
  }

  function child(parentName: string): Run {
    const parent = detailSeenBy(state, by, parentName);
    if (parent.principal !== by) throw new Refused('404 not_found');
    const unknown = (command.only ?? []).some((callable) => parent.callables[callable] === undefined);
    if (unknown || (mode !== undefined && isLooser(mode, parent.mode)))
      throw new Refused('422 route_mismatch');
    const { isInConversation, runner } = parent;
    const kept = Object.entries(parent.callables).filter(([tool]) => command.only?.includes(tool) ?? true);
    const callables = Object.fromEntries(kept);
    const policy = { mode: mode ?? parent.mode, rules: parent.rules };
    return { ...fresh, parent: parentName, isInConversation, runner, ...policy, callables };
  }
}

/** All or none. What is wrong with a request is refused by any one of its faults. */
function accept(state: State, { by, run: name, steps }: Of<'accept'>): TaskView[] {
  const keys = steps.map(({ key }) => key);
  const grammar = [
    ...(steps.some(({ timeout }) => timeout === 0) ? ['422 invalid_timeout_ms'] : []),
    ...(steps.some(({ route }) => route === 'null') ? ['422 invalid_tool_route'] : []),
    ...(new Set(keys).size < keys.length ? ['409 key_taken'] : []),
  ];
  if (grammar.length > 0) throw new Refused(...grammar);
  const run = detailSeenBy(state, by, name);
  const faults = run.isStopped ? ['409 run_stopped'] : [];
  if (state.tasks.some(({ run: of, key }) => of === name && keys.includes(key))) faults.push('409 key_taken');
  const tasks = steps.flatMap((step): Task[] => {
    try {
      return [accepted(state, run, by, step)];
    } catch (fault) {
      if (fault instanceof Refused) faults.push(...fault.codes);
      else throw fault;
      return [];
    }
  });
  if (faults.length > 0) throw new Refused(...faults);
  state.tasks.push(...tasks);
  return tasks.map(taskView);
}

function accepted(state: State, run: Run, by: Member, step: Step): Task {
  const place = placeOf(state, run, by, step);
  const alias = step.kind === 'call' ? step.name : step.through;
  const task: Task = {
    run: run.name,
    key: step.key,
    tool: place.tool,
    ...(alias === undefined ? {} : { alias }),
    ...(step.path === undefined ? {} : { path: step.path }),
    role: place.role,
    ...(place.executor === undefined ? {} : { addressed: place.executor }),
    ...clockOf(step, place),
    status: 'dispatched',
    generation: 1,
    profile: place.profile,
    isOfAgent: personOf(by).kind === 'agent',
    isOld: false,
  };
  become(task, stageOf(run, place, by, step.path));
  return task;
}

function stop(state: State, { by, run: name }: { by: Member; run: string }): RunView {
  const run = detailSeenBy(state, by, name);
  run.isStopped = true;
  for (const task of state.tasks) if (task.run === name && isOpen(task)) settle(task, 'canceled');
  return runView(state, run);
}

/** The conversation is ada's: seen by its principal, her steward and admins. */
function setDefault(state: State, { by, runner }: { by: Member; runner: ExecutorName | null }): undefined {
  if (!sees(by, 'ada')) throw new Refused('404 not_found');
  if (runner !== null && !(isEligible(state, runner, 'ada') && isEligible(state, runner, by))) {
    throw new Refused('422 runner_not_eligible');
  }
  state.conversationDefault = runner;
}

/* Chapter 6, Expiry and Adjudication */

function approvals(state: State, by: Member): string[] {
  if (personOf(by).kind === 'agent') return [];
  const principal = ({ run }: Task): Member =>
    state.runs.find(({ name }) => name === run)?.principal ?? 'zoe';
  return state.tasks
    .filter((task) => task.status === 'needs_approval' && task.clock !== 'due' && sees(by, principal(task)))
    .map(({ key }) => key);
}

function decide(state: State, command: Of<'approve' | 'deny'>): TaskView {
  detailSeenBy(state, command.by, command.run);
  if (personOf(command.by).kind === 'agent') throw new Refused('403 person_required');
  const { run, task } = taskSeenBy(state, command);
  if (task.status === 'needs_approval' && task.clock === 'due') expire(task);
  if (task.status !== 'needs_approval') throw new Refused('409 not_awaiting_approval');
  const approval = { origin: 'human', by: command.by } as const;
  const failed = (key: string, detail?: string): void =>
    become(task, { status: 'failed', approval, error: { key, ...(detail === undefined ? {} : { detail }) } });
  if (command.verb === 'deny') {
    failed('approval_denied', 'no');
    return taskView(task);
  }
  const place = sameTarget(state, run, task);
  if (typeof place === 'string') failed(place);
  else if (place.isOperatorCapability && task.isOfAgent)
    failed('tool_not_served', 'only people call this tool now');
  else if (place.restsWith === task.restsWith) become(task, granted(place, approval));
  else {
    const { verdict, reason } = judge(run, place, task.path);
    become(
      task,
      verdict === 'deny' ? denied(reason) : { status: 'needs_approval', restsWith: place.restsWith },
    );
    task.profile = place.profile;
  }
  return taskView(task);
}

function retry(state: State, command: { by: Member } & OnTask): TaskView {
  const { run, task } = taskSeenBy(state, command);
  const faults: string[] = [];
  if (!['failed', 'timed_out', 'uncertain'].includes(task.status)) faults.push('409 not_retryable');
  if (run.isStopped) faults.push('409 run_stopped');
  if (faults.length > 0) throw new Refused(...faults);
  const isAgent = personOf(command.by).kind === 'agent';
  const place = sameTarget(state, run, task);
  if (typeof place !== 'string' && place.isOperatorCapability && isAgent)
    throw new Refused('403 person_required');
  task.generation += 1;
  task.claim = undefined;
  task.isOfAgent = isAgent;
  if (typeof place === 'string') become(task, { status: 'failed', error: { key: place } });
  else {
    become(task, stageOf(run, place, command.by, task.path));
    task.profile = place.profile;
  }
  return taskView(task);
}

function cancel(state: State, command: { by: Member } & OnTask): TaskView {
  const { task } = taskSeenBy(state, command);
  if (!isOpen(task)) throw new Refused('409 already_terminal');
  settle(task, 'canceled');
  return taskView(task);
}

/* Chapter 1, Executor lifecycle */

function administer(
  state: State,
  verb: 'revoke' | 're_pair' | 'shutdown' | 'resume',
  name: ExecutorName,
): undefined {
  const executor = state.executors[name];
  if (verb === 're_pair') executor.epoch += 1;
  else if (verb === 'revoke') {
    if (!executor.isRevoked) revoke(state, name);
  } else {
    if (executor.isRevoked) throw new Refused('409 executor_revoked');
    executor.isShutDown = verb === 'shutdown';
  }
}

function revoke(state: State, name: ExecutorName): void {
  state.executors[name].isRevoked = true;
  for (const task of state.tasks) {
    if (!isOpen(task) || (task.addressed !== name && task.claim?.by !== name)) continue;
    if (task.claim) expire(task);
    else settle(task, 'failed', { key: 'executor_revoked' });
  }
}

/* Chapter 7, Retention */

function age(state: State, name: string): undefined {
  for (const run of state.runs) if (run.name === name) run.isOld = true;
  for (const task of state.tasks) if (task.run === name && !isOpen(task)) task.isOld = true;
}

function prune(state: State): undefined {
  for (const run of state.runs) {
    const tasks = state.tasks.filter((task) => task.run === run.name);
    if (run.isPruned || !run.isOld || tasks.some((task) => isOpen(task) || !task.isOld)) continue;
    run.isPruned = true;
    run.prunedAs = tasks.length > 0 ? 'completed' : 'open';
    state.tasks = state.tasks.filter((task) => task.run !== run.name);
  }
}

/** All that can be seen between two commands: every task with its evidence, and the inbox of each live executor. */
export function observation(state: State): object {
  const live = EXECUTORS.filter((name) => !state.executors[name].isRevoked);
  return {
    tasks: state.tasks.map((task) => ({ ...taskView(task), clock: task.clock, capture: captureOf(task) })),
    inboxes: Object.fromEntries(live.map((name) => [name, inboxOf(state, name)])),
  };
}

const captureOf = ({ capture }: Task) =>
  capture && { generation: capture.generation, runner: capture.runner, checkpoint: capture.checkpoint };
