import type { EffectProfile } from '../../src/kernel/effect-profile.js';
import {
  CLOCKS,
  EXECUTORS,
  type Entry,
  type ExecutorName,
  type Member,
  type Mode,
  PEOPLE,
  PROFILES,
  REGISTRATIONS,
  type Rule,
  type Run,
  type State,
  type Task,
} from './world.js';

/** Chapters 1, 2, 5 and the policy of chapter 6, as the reference model reads them. Written from the text alone. */

/** A refusal: its status and code; where the chapters leave the order open, any of several. */
export class Refused extends Error {
  readonly codes: readonly string[];

  constructor(...codes: string[]) {
    super(codes.join(' or '));
    this.codes = codes;
  }
}

/** A call as it is asked for. `route` undefined is none; `default` is a route without a UUID. */
export interface Step {
  readonly kind: 'call' | 'tool';
  readonly name: string;
  readonly route?: ExecutorName | 'default' | 'stranger' | 'null' | undefined;
  /** The callable that a `tool_call` names, which it becomes. */
  readonly through?: string | undefined;
  readonly key: string;
  readonly timeout?: number | undefined;
  readonly path?: string | undefined;
}

/** Where a call goes. */
export interface Place {
  readonly role: Task['role'];
  readonly executor?: ExecutorName;
  readonly tool: string;
  readonly profile: EffectProfile;
  readonly timeout: number | undefined;
  readonly restsWith: string;
  readonly isOperatorCapability: boolean;
}

export const personOf = (member: Member) => PEOPLE[member];

/** Chapter 5: seen by its principal, that agent's steward and account admins. */
export function sees(viewer: Member, principal: Member): boolean {
  return viewer === principal || personOf(principal).steward === viewer || personOf(viewer).isAdmin === true;
}

/** Chapter 1, assignment_scope: the manager and the agents that human stewards, or every member. */
function admits(name: ExecutorName, member: Member): boolean {
  const { manager, isPrivate, agent } = REGISTRATIONS[name];
  if (agent !== undefined) return agent === member;
  return !isPrivate || manager === member || personOf(member).steward === manager;
}

/** Chapter 1: active, credential-ready, not shutting down, and its scope admits the member. */
export function isEligible(state: State, name: ExecutorName, member: Member): boolean {
  const { isRevoked, isShutDown } = state.executors[name];
  return !isRevoked && !isShutDown && admits(name, member);
}

/** A caller who is not the principal reaches no executor that is not their own to reach. */
function mayReach(state: State, name: ExecutorName, principal: Member, caller: Member): boolean {
  const isTheirs = REGISTRATIONS[name].kind === 'agent_application' || admits(name, caller);
  return isEligible(state, name, principal) && (caller === principal || isTheirs);
}

/** Chapter 2: an announced entry; `for` an agent only what models see. */
export function servesTo(state: State, name: ExecutorName, tool: string, isAgent: boolean): boolean {
  const entry = state.executors[name].tools[tool];
  return entry !== undefined && (entry.isDescribed || !isAgent);
}

const KERNEL = 'runners_list';

/** Chapter 5, Where it goes. `caller` is who calls, on a run of `principal`. */
export function placeOf(state: State, run: Run, caller: Member, step: Step): Place {
  if (step.kind === 'call') return callablePlace(state, run, caller, step.name);
  if (step.through !== undefined) return callablePlace(state, run, caller, step.through);
  if (step.route === undefined) {
    if (run.parent !== undefined && run.callables[step.name] !== null)
      throw new Refused('422 route_mismatch');
    return barePlace(state, run, caller, step.name);
  }
  const now = run.isInConversation ? state.conversationDefault : run.runner;
  const runner = step.route === 'default' ? now : step.route;
  if (runner === null) throw new Refused('422 runner_target_required');
  if (run.parent !== undefined && run.callables[step.name] !== runner)
    throw new Refused('422 route_mismatch');
  return runnerPlace(state, run, caller, runner, step.name);
}

/** A model's call: a callable of the frozen declaration, at its frozen target. */
function callablePlace(state: State, run: Run, caller: Member, name: string): Place {
  const runner = run.callables[name];
  if (runner === undefined) throw new Refused('422 tool_not_declared');
  return runner === null
    ? barePlace(state, run, caller, name)
    : runnerPlace(state, run, caller, runner, name);
}

function runnerPlace(
  state: State,
  run: Run,
  caller: Member,
  runner: ExecutorName | 'stranger' | 'null',
  tool: string,
): Place {
  const isRunner = runner !== 'stranger' && runner !== 'null' && REGISTRATIONS[runner].kind === 'runner';
  if (!isRunner || !mayReach(state, runner, run.principal, caller)) {
    throw new Refused('422 runner_not_eligible');
  }
  if (!state.executors[runner].tools[tool]) throw new Refused('422 tool_not_served');
  return allowed(servedPlace(state, tool, [runner], 'runner'), caller);
}

/** No route: the kernel, the agent's application, else the pool. Runners are not even looked at. */
function barePlace(state: State, run: Run, caller: Member, tool: string): Place {
  if (tool === KERNEL) return KERNEL_PLACE;
  const { principal } = run;
  const announcing = EXECUTORS.filter((name) => {
    const { isRevoked, tools } = state.executors[name];
    return !isRevoked && tools[tool] !== undefined;
  });
  const application = announcing.find((name) => REGISTRATIONS[name].agent === principal);
  if (application !== undefined) {
    if (!mayReach(state, application, principal, caller)) throw new Refused('422 tool_not_served');
    return allowed(servedPlace(state, tool, [application], 'agent_application'), caller);
  }
  const pool = announcing.filter(
    (name) => REGISTRATIONS[name].kind === 'tool_provider' && mayReach(state, name, principal, caller),
  );
  if (pool.length === 0) throw new Refused('422 tool_not_served');
  return allowed(servedPlace(state, tool, pool, 'tool_provider'), caller);
}

/** Chapter 5, Steps: an operator capability takes a human. */
function allowed(place: Place, caller: Member): Place {
  if (place.isOperatorCapability && personOf(caller).kind === 'agent')
    throw new Refused('403 person_required');
  return place;
}

const KERNEL_PLACE: Place = {
  role: 'kernel',
  tool: KERNEL,
  profile: PROFILES.read,
  timeout: undefined,
  restsWith: '',
  isOperatorCapability: false,
};

/** What is frozen of the tool at those who serve it: of a pool the worst, in every key. */
function servedPlace(
  state: State,
  tool: string,
  servers: readonly ExecutorName[],
  role: Task['role'],
): Place {
  const entries = servers.map((name) => state.executors[name].tools[tool] as Entry);
  const timeouts = entries.flatMap(({ timeout }) => timeout ?? []);
  const shown = entries.map(
    ({ profile, isDescribed, words }) => `${profile} ${isDescribed ? words : 'bare'}`,
  );
  const [first] = servers;
  return {
    role,
    ...(role === 'tool_provider' || first === undefined ? {} : { executor: first }),
    tool,
    profile: worst(entries.map(({ profile }) => PROFILES[profile])),
    timeout: timeouts.length === 0 ? undefined : Math.max(...timeouts),
    restsWith: [...new Set(shown)].sort().join(),
    isOperatorCapability: !entries.every(({ isDescribed }) => isDescribed),
  };
}

function worst(profiles: readonly EffectProfile[]): EffectProfile {
  const any = (has: (profile: EffectProfile) => boolean): boolean => profiles.some(has);
  const isNone = any(({ idempotency }) => idempotency === 'none');
  return {
    kind: any(({ kind }) => kind === 'write') ? 'write' : 'read_only',
    destructive: any(({ destructive }) => destructive),
    effect_scope: any(({ effect_scope }) => effect_scope === 'open') ? 'open' : 'closed',
    idempotency: isNone ? 'none' : any(({ idempotency }) => idempotency === 'keyed') ? 'keyed' : 'intrinsic',
    reconciliation: any(({ reconciliation }) => reconciliation === 'none') ? 'none' : 'lookup',
  };
}

/** Chapter 6: the same target once more, for approval and retry; or the error that it is gone by. */
export function sameTarget(
  state: State,
  run: Run,
  task: Task,
): Place | 'executor_revoked' | 'tool_not_served' {
  const { role, tool, addressed } = task;
  if (role === 'kernel') return KERNEL_PLACE;
  if (addressed !== undefined) {
    if (state.executors[addressed].isRevoked) return 'executor_revoked';
    return state.executors[addressed].tools[tool]
      ? servedPlace(state, tool, [addressed], role)
      : 'tool_not_served';
  }
  const announcing = EXECUTORS.filter(
    (name) =>
      REGISTRATIONS[name].kind === 'tool_provider' &&
      !state.executors[name].isRevoked &&
      state.executors[name].tools[tool] !== undefined &&
      admits(name, run.principal),
  );
  const eligible = announcing.filter((name) => isEligible(state, name, run.principal));
  const pool = eligible.length > 0 ? eligible : announcing;
  return pool.length > 0 ? servedPlace(state, tool, pool, role) : 'tool_not_served';
}

/** What the approval stage makes of a call. */
export type Stage = Pick<Task, 'status'> & Partial<Pick<Task, 'approval' | 'error' | 'restsWith'>>;

/** Chapter 6, Approval policy and Requests. */
export function stageOf(run: Run, place: Place, caller: Member, path: string | undefined): Stage {
  const { verdict, origin, reason } = judge(run, place, path);
  if (verdict === 'deny') return denied(reason);
  if (place.isOperatorCapability && personOf(caller).kind === 'human') {
    return granted(place, { origin: 'human', by: caller });
  }
  return verdict === 'ask'
    ? { status: 'needs_approval', restsWith: place.restsWith }
    : granted(place, { origin });
}

export const denied = (reason: string | undefined): Stage => ({
  status: 'failed',
  approval: { origin: 'rule' },
  error: { key: 'approval_denied', ...(reason === undefined ? {} : { detail: reason }) },
});

/** The kernel's own tools are done at once. */
export const granted = ({ role }: Place, approval: NonNullable<Task['approval']>): Stage => ({
  status: role === 'kernel' ? 'completed' : 'dispatched',
  approval,
});

/** The steward's rules, the run's in mode `rules`, then the mode. */
export function judge(
  run: Run,
  { tool, profile }: Pick<Place, 'tool' | 'profile'>,
  path: string | undefined,
): { readonly verdict: Rule['verdict']; readonly origin: 'mode' | 'rule'; readonly reason?: string } {
  const own = run.mode === 'rules' ? run.rules : [];
  const rule = [...(personOf(run.principal).rules ?? []), ...own].find((candidate) =>
    matches(candidate, tool, profile, path),
  );
  if (rule) return { ...rule, origin: 'rule' };
  return { verdict: run.mode !== 'bypass' && profile.kind === 'write' ? 'ask' : 'allow', origin: 'mode' };
}

function matches(rule: Rule, tool: string, profile: EffectProfile, path: string | undefined): boolean {
  const isLike = (pattern: string, text: string): boolean =>
    new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(text);
  const { effect = {}, match } = rule;
  return (
    rule.tool.split('|').some((name) => isLike(name, tool)) &&
    Object.entries(effect).every(([key, value]) => profile[key as keyof EffectProfile] === value) &&
    (match === undefined || (path !== undefined && isLike(match, path)))
  );
}

/** Chapter 5: the step's, else the announced one, else the kernel's; and what an extension may reach (chapter 6). */
export function clockOf(step: Step, { timeout: announced }: Place): Pick<Task, 'timeout' | 'bound'> {
  const timeout = step.timeout ?? announced ?? CLOCKS.kernelDefault;
  const isGiven = step.timeout !== undefined || announced !== undefined;
  return { timeout, bound: isGiven ? Math.max(timeout, announced ?? 0) : 3_600_000 };
}

const STRICTNESS: readonly Mode[] = ['bypass', 'rules', 'ask'];

export const isLooser = (mode: Mode, than: Mode): boolean =>
  STRICTNESS.indexOf(mode) < STRICTNESS.indexOf(than);
