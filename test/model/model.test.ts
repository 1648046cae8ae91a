import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Sweep } from '../../src/work/sweep.service.js';
import { TestNode } from '../support/node.js';
import type { Answer, Command } from './command.js';
import { type Context, History, type Sent } from './sketch.js';
import { anyCommand, opening } from './sketches.js';
import { RealWorld, type Way } from './real-world.js';
import { apply, observation } from './reference-model.js';
import { shortened } from './shortened.js';
import { firstState, type State } from './world.js';

/**
 * Random sequences of every verb of chapters 5 to 7, from several members and executors, over two nodes and both doors:
 * every answer, and all that can be seen after it, is what the reference model says.
 *
 * MODEL_SEED and MODEL_RUNS choose other sequences and more of them; a failure prints the seed, the path and a shorter
 * sequence that fails, and MODEL_SEED with MODEL_PATH plays the whole one again.
 */
const SEED = Number(process.env['MODEL_SEED'] ?? 7_420);
const RUNS = process.env['MODEL_RUNS'];
const PATH = process.env['MODEL_PATH'];
/** Of each property, where nobody asked for a number of runs: what is left after it is not run. */
const TIME_MS = 12_000;
/** How long a failing sequence is made shorter. */
const SHORTEN_MS = 60_000;
const LENGTH = { minLength: 120, maxLength: 200, size: 'max' } as const;

let nodes: readonly [TestNode, TestNode];

beforeAll(async () => {
  const one = await TestNode.start();
  nodes = [one, await TestNode.start({}, one)];
  // deadlines are moved, and looked for, by commands alone
  await Promise.all(nodes.map((node) => node.app.get(Sweep).beforeApplicationShutdown()));
});

afterAll(async () => {
  await nodes?.[1].close();
  await nodes?.[0].close();
});

type Did = { readonly outcome: string; readonly body: Answer['body'] };

/** One command, or two at once. */
type Turn = readonly Sent[];

/** As JSON says it: what is undefined is not there. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null));

/** How what is seen is compared. */
type Reading = (value: unknown) => unknown;

/** Without the order of lists: tasks that two requests made at once may stand between each other. */
const unordered = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value ?? null), (_, part: unknown) =>
    Array.isArray(part) ? part.toSorted((one, other) => (textOf(one) < textOf(other) ? -1 : 1)) : part,
  );
const textOf = (value: unknown): string => JSON.stringify(value);

/**
 * Plays the turns in the real world and in the model. Throws where they part, with all commands so far. What two commands at
 * once came to may not show for a while: until it does, the model is in every state that fits what was seen.
 */
async function play(turns: readonly Turn[], reading: Reading): Promise<void> {
  const world = await RealWorld.create(nodes);
  const history = new History();
  const log: string[] = [];
  let states: readonly State[] = [firstState()];
  try {
    for (const [index, turn] of turns.entries()) {
      const [state = firstState()] = states;
      const sent = resolved(turn, { state, history, label: `${index}` });
      if (sent.length === 0) continue;
      log.push(
        sent.map(({ command, way }) => `${wayText(way)} ${JSON.stringify(command)}`).join('\n  beside '),
      );
      states = await takeTurn(world, states, sent, { log, reading });
      for (const fitting of states) history.remember(fitting);
    }
  } finally {
    await world.close();
  }
}

interface Resolved {
  readonly command: Command;
  readonly way: Way;
}

/** The commands of a turn in the state at hand; what makes no sense there is left out. */
function resolved(turn: Turn, context: Context): Resolved[] {
  const sent = turn.flatMap(({ sketch, node, door }, place): Resolved[] => {
    const command = sketch({ ...context, label: `${context.label}${'ab'[place] ?? ''}` });
    return command ? [{ command, way: { node, door } }] : [];
  });
  const fencing = sent.filter(({ command: { verb } }) => verb === 'revoke' || verb === 're_pair');
  if (sent.length < 2 || fencing.length === 0) return sent;
  // whom a revocation may cut off meanwhile speaks over REST; and registered once more it would be another executor
  const distinct = fencing.length < 2 ? sent : sent.slice(0, 1);
  return distinct.map(({ command, way }) => ({ command, way: { ...way, door: 'REST' } }));
}

/** Does the commands at once, and answers the states that the model may be in then: one after the other, in some order. */
async function takeTurn(
  world: RealWorld,
  before: readonly State[],
  sent: readonly Resolved[],
  { log, reading }: { readonly log: readonly string[]; readonly reading: Reading },
): Promise<readonly State[]> {
  const did = await Promise.all(sent.map(({ command, way }) => world.execute(command, way)));
  const seen = reading(await world.observation());
  const orders =
    sent.length === 1
      ? [[0]]
      : [
          [0, 1],
          [1, 0],
        ];
  const expected = before.flatMap((state) => orders.map((order) => outcomeOf(state, sent, order, reading)));
  const fitting = expected.filter(
    ({ answers, seen: shown }) =>
      answers.every((answer, place) => fits(did[place] as Did, answer, reading)) &&
      isDeepStrictEqual(shown, seen),
  );
  if (fitting.length > 0) return distinct(fitting.map(({ state }) => state));
  const differences = expected.map(({ answers, seen: shown }) =>
    difference(
      { did: plain(did), seen },
      { did: answers.map((answer, place) => asExpected(did[place] as Did, answer)), seen: shown },
    ),
  );
  throw new Error([...log, ...differences].join('\n'));
}

interface Outcome {
  readonly state: State;
  readonly answers: readonly Answer[];
  readonly seen: unknown;
}

function outcomeOf(
  before: State,
  sent: readonly Resolved[],
  order: readonly number[],
  reading: Reading,
): Outcome {
  const state = structuredClone(before);
  const answers: Answer[] = [];
  for (const place of order)
    answers[place] = apply(state, (sent[place] as Resolved).command, sent.length > 1);
  return { state, answers: plain(answers) as Answer[], seen: reading(observation(state)) };
}

const distinct = (states: readonly State[]): State[] =>
  states.filter(
    (state, place) => !states.slice(0, place).some((other) => isDeepStrictEqual(plain(other), plain(state))),
  );

function difference(received: unknown, wanted: unknown): string {
  try {
    expect(received).toEqual(wanted);
    return '';
  } catch (fault) {
    return (fault as Error).message;
  }
}

const wayText = ({ node, door }: Way): string => (door === 'bus' ? 'bus' : `node ${node}`);

const fits = ({ outcome, body }: Did, answer: Answer, reading: Reading): boolean =>
  answer.outcomes.includes(outcome) && isDeepStrictEqual(reading(body), reading(answer.body));

/** The expected answer in the shape of what was done; any of the outcomes that are right is the one. */
const asExpected = ({ outcome }: Did, { outcomes, body }: Answer): unknown =>
  plain({ outcome: outcomes.includes(outcome) ? outcome : outcomes.join(' or '), body });

async function check(turns: fc.Arbitrary<Turn[]>, reading: Reading): Promise<void> {
  const whole = fc
    .tuple(opening, turns)
    .map(([first, then]): Turn[] => [...first.map((sent) => [sent]), ...then]);
  const found = await fc.check(
    fc.asyncProperty(whole, (sequence) => play(sequence, reading)),
    {
      seed: SEED,
      endOnFailure: true,
      ...(PATH === undefined ? {} : { path: PATH }),
      ...(RUNS === undefined
        ? { numRuns: 10_000, interruptAfterTimeLimit: TIME_MS }
        : { numRuns: Number(RUNS) }),
    },
  );
  if (!found.failed) return;
  let { message } = found.errorInstance as Error;
  const [sequence = []] = found.counterexample ?? [];
  const fails = async (shorter: readonly Turn[]): Promise<boolean> => {
    const failure = await failureOf(shorter, reading);
    message = failure ?? message;
    return failure !== undefined;
  };
  await shortened(sequence, fails, SHORTEN_MS);
  throw new Error(`MODEL_SEED=${found.seed} MODEL_PATH=${found.counterexamplePath}\n${message}`);
}

/** What is wrong with these turns. */
const failureOf = (turns: readonly Turn[], reading: Reading): Promise<string | undefined> =>
  play(turns, reading).then(
    () => undefined,
    (fault: unknown) => (fault as Error).message,
  );

const LONGEST = RUNS === undefined ? TIME_MS + SHORTEN_MS + 30_000 : 86_400_000;

describe('Chapters 5 to 7, in any sequence of verbs over two nodes', () => {
  it(
    'answer as the reference model, and leave every task and inbox as it does',
    () => check(fc.array(fc.tuple(anyCommand), LENGTH), plain),
    LONGEST,
  );

  it(
    'two at once, one on each node, come to what one of the two orders comes to',
    () => check(fc.array(fc.oneof(fc.tuple(anyCommand), atOnce()), LENGTH), unordered),
    LONGEST,
  );
});

function atOnce(): fc.Arbitrary<Turn> {
  return fc.tuple(anyCommand, anyCommand).map(([one, other]) => [
    { ...one, node: 0 },
    { ...other, node: 1 },
  ]);
}
