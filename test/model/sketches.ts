import fc from 'fast-check';
import type { Command } from './command.js';
import {
  announceOf,
  claim,
  claimAgain,
  commitOf,
  extend,
  held,
  involved,
  isClaimed,
} from './executor-sketches.js';
import { accept, adjudicate, createRun, mode, onRun } from './member-sketches.js';
import { back, nth, rarely, type Sent, type Sketch, weightedOf } from './sketch.js';
import { EXECUTORS, isOpen, type Member, MEMBERS, type Task } from './world.js';

const administer = fc
  .record({
    verb: fc.oneof(
      { weight: 1, arbitrary: fc.constant('revoke' as const) },
      { weight: 6, arbitrary: fc.constantFrom('re_pair' as const, 'shutdown' as const) },
      { weight: 6, arbitrary: fc.constant('resume' as const) },
    ),
    who: involved(EXECUTORS),
  })
  .map(({ verb, who }): Sketch => ({ state }) => {
    const executor = who(state);
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
  [9, adjudicate('retry', 'principal', isFailed)],
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
  [8, announceOf(EXECUTORS, false)],
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
