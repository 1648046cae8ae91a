import fc from 'fast-check';
import type { Actor, Command, Result } from './command.js';
import { back, maybe, nth, rarely, type Sketch } from './sketch.js';
import {
  CLOCKS,
  type Entry,
  EXECUTORS,
  type ExecutorName,
  isOpen,
  PROFILES,
  REGISTRATIONS,
  type State,
  type Task,
} from './world.js';

/** What executors do: announcements, and the work of chapter 6. */

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
export const isClaimed = (task: Task): boolean => task.status === 'dispatched' && task.claim !== undefined;

export const claim = byExecutor(
  fc.record({ isAgain: rarely(fc.constant(false), fc.constant(true)) }),
  isWaiting,
  ({ tokens, ...named }, { isAgain }, label) => ({
    verb: 'claim',
    ...named,
    token: (isAgain ? tokens.at(-1) : undefined) ?? `token${label}`,
  }),
);

export const claimAgain = byExecutor(
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
export const commitOf = (wanted: (task: Task) => boolean): fc.Arbitrary<Sketch> =>
  byExecutor(commitFields, wanted, ({ tokens, ...named }, { token: kind, result, checkpoint }) => ({
    verb: 'commit',
    ...named,
    token: tokenOf(kind, tokens),
    result,
    checkpoint,
  }));

export const extend = byExecutor(
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

export const held = (verb: 'claim_status' | 'progress'): fc.Arbitrary<Sketch> =>
  byExecutor(fc.record({ token }), isClaimed, ({ tokens, ...named }, { token: kind }) => ({
    verb,
    ...named,
    token: tokenOf(kind, tokens),
  }));

const entry: fc.Arbitrary<Entry> = fc.record(
  {
    profile: fc.constantFrom(...(Object.keys(PROFILES) as (keyof typeof PROFILES)[])),
    isDescribed: rarely(fc.constant(true), fc.constant(false), 3),
    words: fc.nat(1),
    timeout: fc.constantFrom(...CLOCKS.announced),
  },
  { requiredKeys: ['profile', 'isDescribed', 'words'] },
);

/** Someone who has a call to do or to wait for, or anyone of these. */
export const involved = (executors: readonly ExecutorName[]): fc.Arbitrary<(state: State) => ExecutorName> =>
  fc
    .record({ isAnyone: fc.boolean(), anyone: fc.constantFrom(...executors), back })
    .map(({ isAnyone, anyone, back: distance }) => ({ tasks }: State): ExecutorName => {
      const task = isAnyone ? undefined : nth(tasks.filter(isOpen), distance);
      const name = task?.claim?.by ?? task?.addressed ?? anyone;
      return executors.includes(name) ? name : anyone;
    });

/** Runners serve `edit` and `read`, the others `edit` and `find`. */
export function announceOf(executors: readonly ExecutorName[], isWhole: boolean): fc.Arbitrary<Sketch> {
  const served = isWhole
    ? entry
    : rarely(
        entry.map((value): Entry | undefined => value),
        fc.constant(undefined),
        4,
      );
  return fc
    .record({
      who: involved(executors),
      isStale: rarely(fc.constant(false), fc.constant(true), 12),
      edit: served,
      other: served,
    })
    .map(({ who, isStale, edit, other }): Sketch => ({ state }) => {
      const name = who(state);
      const second = REGISTRATIONS[name].kind === 'runner' ? 'read' : 'find';
      const tools = { ...(edit && { edit }), ...(other && { [second]: other }) };
      return { verb: 'announce', as: actorOf(state, { name, provider: 'p1', isStale }), tools };
    });
}
