import fc from 'fast-check';
import { personOf, type Step } from './reference-routing.js';
import { back, maybe, nth, rarely, type Sketch, weightedOf } from './sketch.js';
import { CLOCKS, type ExecutorName, type Member, MEMBERS, RULES, type State, type Task } from './world.js';

/** What members do: runs, calls, decisions. */

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

export const accept = fc
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
export const mode = maybe(fc.constantFrom('bypass' as const, 'rules' as const, 'ask' as const));

export const createRun = fc
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
export const adjudicate = (
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

export const onRun = (verb: 'stop' | 'read_run'): fc.Arbitrary<Sketch> =>
  fc.record({ who: part, back }).map(({ who, back: distance }): Sketch => ({ state }) => {
    const run = nth(state.runs, distance)?.name;
    return run === undefined ? undefined : { verb, by: memberOf(state, who, run), run };
  });
