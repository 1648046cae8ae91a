import type { AnnouncementRecord, ServedTool } from '../announcement/announcement-directory.js';
import { isForModels } from '../announcement/for-models.js';
import type { FrozenDeclaration } from '../assembly/frozen-declaration.js';
import { refuse } from '../errors/refusal.js';
import { KERNEL_TOOLS, type KernelTool } from '../kernel/catalogue.js';
import type { EffectProfile } from '../kernel/effect-profile.js';
import { isServedName } from '../kernel/names.js';
import { reservedNamespace } from '../kernel/reserved-names.js';
import type { CallAuthor } from './call-author.js';
import { poolTool } from './pool-tool.js';
import type { DirectStep, Step } from './step.js';

/** What a step asks for, before anybody looked who serves it. */
export type Address =
  | { readonly to: 'runner'; readonly runnerId: string; readonly toolName: string }
  | { readonly to: 'kernel'; readonly tool: KernelTool }
  | { readonly to: 'name'; readonly toolName: string };

/** What of a run decides where its calls go; all of it is frozen. */
export interface AddressingRun {
  readonly declaration: FrozenDeclaration;
  /** A child adds nothing to its parent's declaration. */
  readonly isContinuation: boolean;
}

/** An executor that announced the name. */
export interface Serving {
  readonly executorId: string;
  readonly announcement: AnnouncementRecord;
  readonly eligible: boolean;
}

/** Where an accepted call is delivered, with what is frozen of the served tool. */
export interface Place {
  readonly role: 'runner' | 'agent_application' | 'tool_provider' | 'kernel';
  readonly toolName: string;
  /** Whom it is delivered to; a pool and the kernel have no executor. */
  readonly executorId: string | null;
  /** The announcement that `profile` comes from: acceptance holds only while it is the current one. */
  readonly announcementVersion: number | null;
  readonly profile: EffectProfile;
  readonly profileText: string;
  readonly announcedTimeoutMs: number | undefined;
  /** The announced entries that say so: one, those of a pool, or none for the kernel. */
  readonly entries: readonly ServedTool[];
  /** How the call reaches whoever it is addressed to (chapter 8). */
  readonly delivery: 'claim' | 'serve';
  /** Served, and never shown to a model: only people call it (chapter 2). */
  readonly isOperatorCapability: boolean;
}

type CallerKind = CallAuthor['kind'];

/** What a refusal says about the call. */
type Named = Pick<Step, 'path'>;

/**
 * What a step addresses (chapter 5, Where it goes). `defaultRunnerId` is the current default; it counts only for a route
 * without a UUID. Throws `tool_not_declared`, `runner_target_required`, `route_mismatch` and `tool_not_served`.
 */
export function addressOf(step: DirectStep, run: AddressingRun, defaultRunnerId: string | null): Address {
  if (step.kind === 'call') return addressOfCall(step.name, step.path, run);
  const { name, path, route } = step;
  if (!route) {
    const address = addressOfName(name, path);
    if (run.isContinuation && !declares(run.declaration, address)) {
      throw refuse('route_mismatch', `${path}.name names ${name}, which the parent does not declare`);
    }
    return address;
  }
  const runnerId = route.runnerId ?? defaultRunnerId;
  if (runnerId === null) {
    throw refuse('runner_target_required', `${path}.route names no runner and there is no default`);
  }
  if (run.isContinuation && !run.declaration.reaches(runnerId, name)) {
    throw refuse(
      'route_mismatch',
      `${path}.route names ${name} at a runner that the parent does not declare`,
    );
  }
  return { to: 'runner', runnerId, toolName: name };
}

function addressOfCall(name: string, path: string, { declaration }: AddressingRun): Address {
  const callable = declaration.callables.get(name);
  if (!callable) throw refuse('tool_not_declared', `${path}.name is no callable of this run`);
  if (callable.route) return { to: 'runner', ...callable.route };
  const canonical = callable.canonical;
  const tool = KERNEL_TOOLS.find(({ canonical_name }) => canonical_name === canonical);
  return tool ? { to: 'kernel', tool } : addressOfName(name, path);
}

/** A bare name: the kernel's, or whoever announces it. Runners are never looked at. */
function addressOfName(name: string, path: string): Address {
  const tool = KERNEL_TOOLS.find((known) => known.name === name || known.canonical_name === name);
  if (tool) return { to: 'kernel', tool };
  if (!isServedName(name) || reservedNamespace(name) !== undefined) throw notServed(path, name);
  return { to: 'name', toolName: name };
}

function declares({ callables }: FrozenDeclaration, address: Address): boolean {
  if (address.to === 'kernel') {
    return [...callables.values()].some(({ canonical }) => canonical === address.tool.canonical_name);
  }
  const callable = address.to === 'name' ? callables.get(address.toolName) : undefined;
  return callable !== undefined && !callable.route;
}

/** The place at a runner. Throws, in this order, `runner_not_eligible`, `tool_not_served`, `person_required`. */
export function runnerPlace(
  step: Named,
  toolName: string,
  runner: { readonly announcement: AnnouncementRecord | undefined; readonly eligible: boolean },
  caller: CallerKind,
): Place {
  const { announcement, eligible } = runner;
  if (!eligible) throw refuse('runner_not_eligible', `${step.path} addresses no runner that is eligible`);
  const tool = announcement?.tools.get(toolName);
  if (!announcement || !tool) throw notServed(step.path, toolName);
  return servedPlace(step, 'runner', tool, announcement, caller);
}

/**
 * The place of a name without a route: the declaring agent's application where its announcement has the name, else the
 * pool of providers that announce it; of an overridable name only those were looked for that the account gave it to. Throws
 * `tool_not_served` and `person_required`.
 */
export function namedPlace(
  step: Named,
  toolName: string,
  found: { readonly application: Serving | undefined; readonly providers: readonly Serving[] },
  caller: CallerKind,
): Place {
  const { application, providers } = found;
  if (application) {
    const tool = application.announcement.tools.get(toolName);
    if (!tool || !application.eligible) throw notServed(step.path, toolName);
    return servedPlace(step, 'agent_application', tool, application.announcement, caller);
  }
  const eligible = providers.filter((provider) => provider.eligible);
  const pooled = poolTool(
    eligible.map(({ announcement }) => announcement),
    toolName,
  );
  if (!pooled) throw notServed(step.path, toolName);
  if (pooled.isOperatorCapability) requirePerson(step, caller);
  return {
    role: 'tool_provider',
    toolName,
    executorId: null,
    announcementVersion: null,
    delivery: 'claim',
    ...pooled,
  };
}

/** The place of a kernel tool. */
export function kernelPlace(tool: KernelTool): Place {
  const profile = tool.effect_profile;
  if (profile === 'of_called_tool') throw new Error(`${tool.name} becomes the call of another tool`);
  return {
    role: 'kernel',
    toolName: tool.name,
    executorId: null,
    announcementVersion: null,
    profile,
    profileText: JSON.stringify(profile),
    announcedTimeoutMs: undefined,
    entries: [],
    delivery: 'claim',
    isOperatorCapability: false,
  };
}

function servedPlace(
  step: Named,
  role: 'runner' | 'agent_application',
  tool: ServedTool,
  announcement: AnnouncementRecord,
  caller: CallerKind,
): Place {
  const isOperatorCapability = !isForModels(tool, announcement);
  if (isOperatorCapability) requirePerson(step, caller);
  return {
    role,
    toolName: tool.name,
    executorId: announcement.executorId,
    announcementVersion: announcement.version,
    profile: tool.effectProfile,
    profileText: tool.effectProfileText,
    announcedTimeoutMs: tool.timeoutMs,
    entries: [tool],
    delivery: announcement.delivery,
    isOperatorCapability,
  };
}

function requirePerson(step: Named, caller: CallerKind): void {
  if (caller === 'agent') {
    throw refuse('person_required', `${step.path}.name names an operator capability, which only people call`);
  }
}

const notServed = (path: string, name: string): Error =>
  refuse(
    'tool_not_served',
    `${path} names ${JSON.stringify(name.slice(0, 128))}, which nobody addressed serves`,
  );
