import fc from 'fast-check';
import type { Actor, Command, Result } from './command.js';
import { personOf, type Step } from './reference-routing.js';
import {
  CLOCKS,
  type Entry,
  EXECUTORS,
  type ExecutorName,
  isOpen,
  type Member,
  MEMBERS,
  PROFILES,
  REGISTRATIONS,
  RULES,
  type State,
  type Task,
} from './world.js';

/**
 * Commands as fast-check draws them: what they are about is said by how far back it is, and who acts by their part in it.
 * `resolve` names it in the state at hand, so that a sequence that shrinks still makes sense.
 */
export type Sketch = (context: Context) => Command | undefined;

/** Where a command is sent. */
export interface Sent {
  readonly sketch: Sketch;
  readonly node: 0 | 1;
  readonly door: 'REST' | 'bus';
}

/** What was there at any time, of which a part may be pruned; and what this command may name anew. */
export interface Context {
  readonly state: State;
  readonly history: History;
  readonly label: string;
}

export class History {
  readonly tasks: { readonly run: string; readonly key: string }[] = [];
  /** Tokens that claimed a task, by its key, the oldest first. */
  readonly tokens = new Map<string, string[]>();

  remember({ tasks }: State): void {
    for (const { run, key, claim } of tasks) {
      if (!this.tasks.some((task) => task.run === run && task.key === key)) this.tasks.push({ run, key });
      const known = this.tokens.get(key) ?? [];
      if (claim && !known.includes(claim.token)) this.tokens.set(key, [...known, claim.token]);
    }
  }
}

/** One of these, as often as their weights say, in halves. */
function weightedOf<T>(choices: readonly (readonly [number, fc.Arbitrary<T>])[]): fc.Arbitrary<T> {
  return fc.oneof(...choices.map(([weight, arbitrary]) => ({ weight: 2 * weight, arbitrary })));
}

const back = fc.oneof({ weight: 5, arbitrary: fc.nat(3) }, { weight: 1, arbitrary: fc.nat(40) });
const nth = <T>(list: readonly T[], distance: number): T | undefined =>
  list[list.length - 1 - (distance % Math.max(1, list.length))];

const rarely = <T>(usual: fc.Arbitrary<T>, seldom: fc.Arbitrary<T>, weight = 5): fc.Arbitrary<T> =>
  fc.oneof({ weight, arbitrary: usual }, { weight: 1, arbitrary: seldom });
const maybe = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined });

/** A member by their part in a run. */
const part = fc.oneof(
  { weight: 8, arbitrary: fc.constant('principal' as const) },
  { weight: 3, arbitrary: fc.constant('steward' as const) },
  { weight: 1, arbitrary: fc.constantFrom(...MEMBERS) },
);
type Part = Member | 'principal' | 'steward';

function memberOf(state: State, who: Part, runName: string): Member {
  if (who !== 'principal' && who !== 'steward') return who;
  const principal = state.runs.find(({ name }) => name === runName)?.principal ?? 'zoe';
  return who === 'principal' ? principal : (personOf(principal).steward ?? principal);
}

const path = rarely(fc.constant(undefined), fc.constantFrom('etc/passwd', 'home/ada'), 2);

/** A step but for its key; a `callable` is one of those that the run declares, by its place. */
type StepSketch = Pick<Step, 'kind' | 'name' | 'route' | 'through'> & { readonly callable?: number };

const stepOf = (fields: Partial<StepSketch>): StepSketch => ({ kind: 'tool', name: 'edit', ...fields });
const steps: readonly (readonly [number, fc.Arbitrary<StepSketch>])[] = [
  [6, fc.nat(2).map((callable) => stepOf({ kind: 'call', callable }))],
  [1, fc.constantFrom('edit', 'read', 'absent').map((name) => stepOf({ kind: 'call', name }))],
  [
    3,
    fc
      .record({
        name: fc.constantFrom('edit', 'read'),
        route: fc.constantFrom('r1' as const, 'r2' as const, 'default' as const),
      })
      .map(stepOf),
  ],
  [3, fc.constantFrom('find', 'edit').map((name) => stepOf({ name }))],
  [1, fc.constantFrom('edit', 'find', 'absent').map((through) => stepOf({ name: 'tool_call', through }))],
  [1, fc.constantFrom('runners_list', 'read').map((name) => stepOf({ name }))],
  [
    0.5,
    fc
      .constantFrom('p1' as const, 'app' as const, 'stranger' as const, 'null' as const)
      .map((route) => stepOf({ route })),
  ],
];
const step = weightedOf(steps);

const timeout = rarely(maybe(fc.constantFrom(...CLOCKS.steps)), fc.constant(0), 40);

const asked = fc.record({ step, timeout, path, taken: rarely(fc.constant(undefined), back, 30) });

const accept = fc
  .record({
    who: part,
    run: back,
    isLive: rarely(fc.constant(true), fc.constant(false), 8),
    called: fc.array(asked, { minLength: 1, maxLength: 2 }),
  })
  .map(({ who, run: distance, isLive, called }): Sketch => ({ state, history, label }) => {
    const live = state.runs.filter(({ isStopped, isPruned }) => !isStopped && !isPruned);
    const run = nth(isLive ? live : state.runs, distance);
    if (!run) return undefined;
    const taken = history.tasks.filter((task) => task.run === run.name);
    const callables = Object.keys(run.callables);
    return {
      verb: 'accept',
      by: memberOf(state, who, run.name),
      run: run.name,
      steps: called.map(
        ({ step: { callable, name, ...fields }, timeout: ms, path: where, taken: place }, index) => ({
          ...fields,
          name: (callable === undefined ? undefined : nth(callables, callable)) ?? name,
          key: (place === undefined ? undefined : nth(taken, place)?.key) ?? `k${label}_${index}`,
          timeout: ms,
          path: where,
        }),
      ),
    };
  });

const runner = fc.constantFrom<ExecutorName | null | undefined>('r1', 'r1', 'r2', 'p1', null, undefined);
const mode = maybe(fc.constantFrom('bypass' as const, 'rules' as const, 'ask' as const));

const createRun = fc
  .record({
    by: rarely(fc.constantFrom<Member>('ada', 'bob', 'sam'), fc.constantFrom(...MEMBERS)),
    parent: rarely(fc.constant(undefined), back, 3),
    runner,
    inConversation: fc.boolean(),
    mode,
    rules: fc.constantFrom(...(Object.keys(RULES) as (keyof typeof RULES)[])),
    only: maybe(rarely(fc.subarray(['edit', 'read', 'find']), fc.constant<string[]>(['absent']))),
  })
  .map(({ parent: distance, ...fields }): Sketch => ({ state, label }) => {
    const parent = distance === undefined ? undefined : nth(state.runs, distance);
    // a continuation is its principal's, save for some
    const by = fields.by === 'zoe' ? fields.by : (parent?.principal ?? fields.by);
    return { verb: 'create_run', name: `run${label}`, ...fields, by, parent: parent?.name };
  });

/** A verb of members on a task. */
const adjudicate = (
  verb: 'approve' | 'deny' | 'retry' | 'cancel' | 'read_task',
  usual: Part,
  wanted: (task: Task) => boolean,
): fc.Arbitrary<Sketch> =>
  fc
    .record({
      who: rarely(fc.constant(usual), part, 2),
      isWanted: rarely(fc.constant(true), fc.constant(false)),
      back,
    })
    .map(({ who, isWanted, back: distance }): Sketch => ({ state, history }) => {
      const task = nth(isWanted ? state.tasks.filter(wanted) : history.tasks, distance);
      return task && { verb, by: memberOf(state, who, task.run), run: task.run, key: task.key };
    });

const onRun = (verb: 'stop' | 'read_run'): fc.Arbitrary<Sketch> =>
  fc.record({ who: part, back }).map(({ who, back: distance }): Sketch => ({ state }) => {
    const run = nth(state.runs, distance)?.name;
    return run === undefined ? undefined : { verb, by: memberOf(state, who, run), run };
  });

/** Who acts on a task: its claimant, or whoever it waits for; or anyone. A `stale` one has the last epoch's credential. */
const actor = fc.record({
  name: rarely(fc.constant(undefined), fc.constantFrom(...EXECUTORS), 6),
  provider: fc.constantFrom('p1' as const, 'p2' as const),
  isStale: rarely(fc.constant(false), fc.constant(true), 12),
});
type ActorSketch = typeof actor extends fc.Arbitrary<infer T> ? T : never;

function actorOf(state: State, { name, provider, isStale }: ActorSketch, task?: Task): Actor {
  const holder = task?.claim?.by ?? task?.addressed ?? provider;
  const chosen = name ?? holder;
  const { epoch } = state.executors[chosen];
  return { name: chosen, epoch: isStale && epoch > 1 ? epoch - 1 : epoch };
}

const byExecutor = <T>(
  fields: fc.Arbitrary<T>,
  wanted: (task: Task) => boolean,
  command: (
    named: { as: Actor; run: string; key: string; tokens: readonly string[] },
    fields: T,
    label: string,
  ) => Command,
): fc.Arbitrary<Sketch> =>
  fc
    .record({ actor, isWanted: rarely(fc.constant(true), fc.constant(false), 8), back, fields })
    .map(({ actor: who, isWanted, back: distance, fields: more }): Sketch => ({ state, history, label }) => {
      const place = nth(isWanted ? state.tasks.filter(wanted) : history.tasks, distance);
      if (!place) return undefined;
      const { run, key } = place;
      const task = state.tasks.find((candidate) => candidate.run === run && candidate.key === key);
      const tokens = history.tokens.get(key) ?? [];
      return command({ as: actorOf(state, who, task), run, key, tokens }, more, label);
    });

const isWaiting = (task: Task): boolean => task.status === 'dispatched' && !task.claim;
const isClaimed = (task: Task): boolean => task.status === 'dispatched' && task.claim !== undefined;

const claim = byExecutor(
  fc.record({ isAgain: rarely(fc.constant(false), fc.constant(true)) }),
  isWaiting,
  ({ tokens, ...named }, { isAgain }, label) => ({
    verb: 'claim',
    ...named,
    token: (isAgain ? tokens.at(-1) : undefined) ?? `token${label}`,
  }),
);

const claimAgain = byExecutor(
  fc.record({ isSame: fc.boolean() }),
  isClaimed,
  ({ tokens, ...named }, { isSame }, label) => ({
    verb: 'claim',
    ...named,
    token: (isSame ? tokens.at(-1) : undefined) ?? `token${label}`,
  }),
);

const token = fc.oneof(
  { weight: 8, arbitrary: fc.constant('held' as const) },
  { weight: 1, arbitrary: fc.constant('earlier' as const) },
  { weight: 1, arbitrary: fc.constant('wrong' as const) },
);

function tokenOf(kind: 'held' | 'earlier' | 'wrong', tokens: readonly string[]): string {
  if (kind === 'held') return tokens.at(-1) ?? 'none';
  return (kind === 'earlier' ? tokens.at(-2) : undefined) ?? 'none';
}

const results: fc.Arbitrary<Result> = fc.oneof(
  { weight: 4, arbitrary: fc.constant('completed' as const) },
  { weight: 3, arbitrary: fc.constant('failed' as const) },
  { weight: 1, arbitrary: fc.constantFrom('is_error' as const, 'bad' as const, 'unstorable' as const) },
);

const commitFields = fc.record({
  token,
  result: results,
  checkpoint: maybe(fc.constantFrom('c1', 'c2', 'c3')),
});
const commitOf = (wanted: (task: Task) => boolean): fc.Arbitrary<Sketch> =>
  byExecutor(commitFields, wanted, ({ tokens, ...named }, { token: kind, result, checkpoint }) => ({
    verb: 'commit',
    ...named,
    token: tokenOf(kind, tokens),
    result,
    checkpoint,
  }));

const extend = byExecutor(
  fc.record({
    token,
    timeout: rarely(fc.constantFrom<number>(...CLOCKS.extensions), fc.constantFrom(0, CLOCKS.tooLong), 8),
  }),
  isClaimed,
  ({ tokens, ...named }, { token: kind, timeout: ms }) => ({
    verb: 'extend',
    ...named,
    token: tokenOf(kind, tokens),
    timeout: ms,
  }),
);

const held = (verb: 'claim_status' | 'progress'): fc.Arbitrary<Sketch> =>
  byExecutor(fc.record({ token }), isClaimed, ({ tokens, ...named }, { token: kind }) => ({
    verb,
    ...named,
    token: tokenOf(kind, tokens),
  }));

const entry: fc.Arbitrary<Entry> = fc.record(
  {
    profile: fc.constantFrom(...(Object.keys(PROFILES) as (keyof typeof PROFILES)[])),
    isDescribed: rarely(fc.constant(true), fc.constant(false), 4),
    words: fc.nat(1),
    timeout: fc.constantFrom(...CLOCKS.announced),
  },
  { requiredKeys: ['profile', 'isDescribed', 'words'] },
);

/** Runners serve `edit` and `read`, the others `edit` and `find`. */
function announceOf(executors: readonly ExecutorName[], isWhole: boolean): fc.Arbitrary<Sketch> {
  const served = isWhole
    ? entry
    : rarely(
        entry.map((value): Entry | undefined => value),
        fc.constant(undefined),
        4,
      );
  return fc
    .record({
      name: fc.constantFrom(...executors),
      isStale: rarely(fc.constant(false), fc.constant(true), 12),
      edit: served,
      other: served,
    })
    .map(({ name, isStale, edit, other }): Sketch => ({ state }) => {
      const second = REGISTRATIONS[name].kind === 'runner' ? 'read' : 'find';
      const tools = { ...(edit && { edit }), ...(other && { [second]: other }) };
      return { verb: 'announce', as: actorOf(state, { name, provider: 'p1', isStale }), tools };
    });
}

const administer = fc
  .record({
    verb: fc.oneof(
      { weight: 1, arbitrary: fc.constant('revoke' as const) },
      { weight: 6, arbitrary: fc.constantFrom('re_pair' as const, 'shutdown' as const) },
      { weight: 6, arbitrary: fc.constant('resume' as const) },
    ),
    executor: fc.constantFrom(...EXECUTORS),
  })
  .map(({ verb, executor }): Sketch => ({ state }) => {
    // registered once more, a revoked one would be another executor
    if (verb === 're_pair' && state.executors[executor].isRevoked) return undefined;
    return { verb, executor };
  });

const expire = back.map((distance): Sketch => ({ state }) => {
  const task = nth(state.tasks.filter(isOpen), distance);
  return task && { verb: 'expire', run: task.run, key: task.key };
});

const age = back.map((distance): Sketch => ({ state }) => {
  const run = nth(state.runs, distance)?.name;
  return run === undefined ? undefined : { verb: 'age', run };
});

const always = (command: Command): fc.Arbitrary<Sketch> => fc.constant(() => command);

const sent = (sketch: fc.Arbitrary<Sketch>): fc.Arbitrary<Sent> =>
  fc.record({
    sketch,
    node: fc.constantFrom(0 as const, 1 as const),
    door: fc.constantFrom('REST' as const, 'bus' as const),
  });

const isFailed = ({ status }: Task): boolean => ['failed', 'timed_out', 'uncertain'].includes(status);
const rests = ({ status }: Task): boolean => status === 'needs_approval';

const weighted: readonly (readonly [number, fc.Arbitrary<Sketch>])[] = [
  [24, accept],
  [3, createRun],
  [20, claim],
  [3, claimAgain],
  [12, commitOf(isClaimed)],
  [4, commitOf(() => true)],
  [4, extend],
  [2, held('claim_status')],
  [1, held('progress')],
  [8, adjudicate('approve', 'steward', rests)],
  [2, adjudicate('deny', 'steward', rests)],
  [7, adjudicate('retry', 'principal', isFailed)],
  [2, adjudicate('cancel', 'principal', isOpen)],
  [1, adjudicate('read_task', 'principal', () => true)],
  [2, onRun('read_run')],
  [0.5, onRun('stop')],
  [1, fc.constantFrom(...MEMBERS).map((by): Sketch => () => ({ verb: 'approvals', by }))],
  [
    2,
    fc
      .record({
        by: rarely(fc.constantFrom<Member>('ada', 'sam'), fc.constantFrom(...MEMBERS)),
        runner: fc.constantFrom('r1', 'r2', null),
      })
      .map(({ by, runner: chosen }): Sketch => () => ({ verb: 'set_default', by, runner: chosen })),
  ],
  [6, announceOf(EXECUTORS, false)],
  [4, administer],
  [4, expire],
  [3, always({ verb: 'sweep' })],
  [2, age],
  [1, always({ verb: 'prune' })],
];

export const anyCommand: fc.Arbitrary<Sent> = sent(weightedOf(weighted));

/** How every sequence begins: with what is served, and a run of each agent. */
export const opening: fc.Arbitrary<Sent[]> = fc.tuple(
  sent(announceOf(['r1'], true)),
  sent(announceOf(['r2'], true)),
  sent(announceOf(['p1'], true)),
  sent(announceOf(['p2'], false)),
  sent(announceOf(['app'], false)),
  ...(['ada', 'bob'] as const).map((by) =>
    sent(
      fc
        .record({ inConversation: fc.boolean(), mode })
        .map(({ inConversation, mode: chosen }): Sketch => ({ label }) => ({
          verb: 'create_run',
          by,
          name: `run${label}`,
          runner: 'r1',
          inConversation: inConversation && by === 'ada',
          mode: by === 'ada' ? chosen : undefined,
          rules: 'none',
        })),
    ),
  ),
);
