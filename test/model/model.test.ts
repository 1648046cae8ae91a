import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Sweep } from '../../src/work/sweep.service.js';
import { TestNode } from '../support/node.js';
import { anyCommand, type Context, History, opening, type Sent } from './commands.js';
import { RealWorld, type Way } from './real-world.js';
import { type Answer, apply, type Command, observation } from './reference-model.js';
import { firstState, type State } from './world.js';

/**
 * Random sequences of every verb of chapters 5 to 7, from several members and executors, over two nodes and both doors:
 * every answer, and all that can be seen after it, is what the reference model says.
 *
 * MODEL_SEED and MODEL_RUNS choose other sequences and more of them; a failure prints the seed, the path and the shortest
 * sequence found, and MODEL_SEED with MODEL_PATH runs that one alone.
 */
const SEED = Number(process.env['MODEL_SEED'] ?? 7_420);
const RUNS = process.env['MODEL_RUNS'];
const PATH = process.env['MODEL_PATH'];
/** Of each property, where nobody asked for a number of runs: what is left after it is not run. */
const TIME_MS = 12_000;
const LENGTH = { minLength: 40, maxLength: 80, size: 'max' } as const;

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

/** Plays the turns in the real world and in the model. Throws where they part, with all commands so far. */
async function play(turns: readonly Turn[]): Promise<void> {
  const world = await RealWorld.create(nodes);
  const history = new History();
  const log: string[] = [];
  let state = firstState();
  try {
    for (const [index, turn] of turns.entries()) {
      const sent = resolved(turn, { state, history, label: `${index}` });
      if (sent.length === 0) continue;
      log.push(
        sent.map(({ command, way }) => `${wayText(way)} ${JSON.stringify(command)}`).join('\n  beside '),
      );
      state = await takeTurn(world, state, sent, log);
      history.remember(state);
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

/** Does the commands at once, and answers the state that the model is in then: one after the other, in some order. */
async function takeTurn(
  world: RealWorld,
  before: State,
  sent: readonly Resolved[],
  log: readonly string[],
): Promise<State> {
  const did = await Promise.all(sent.map(({ command, way }) => world.execute(command, way)));
  const seen = plain(await world.observation());
  const orders =
    sent.length === 1
      ? [[0]]
      : [
          [0, 1],
          [1, 0],
        ];
  const expected = orders.map((order) => {
    const state = structuredClone(before);
    const answers: Answer[] = [];
    for (const place of order)
      answers[place] = apply(state, (sent[place] as Resolved).command, sent.length > 1);
    return { state, answers: plain(answers) as Answer[], seen: plain(observation(state)) };
  });
  const fitting = expected.find(
    ({ answers, seen: shown }) =>
      answers.every((answer, place) => fits(did[place] as Did, answer)) && isDeepStrictEqual(shown, seen),
  );
  if (fitting) return fitting.state;
  const differences = expected.map(({ answers, seen: shown }) =>
    difference(
      { did: plain(did), seen },
      { did: answers.map((answer, place) => asExpected(did[place] as Did, answer)), seen: shown },
    ),
  );
  throw new Error([...log, ...differences].join('\n'));
}

function difference(received: unknown, wanted: unknown): string {
  try {
    expect(received).toEqual(wanted);
    return '';
  } catch (fault) {
    return (fault as Error).message;
  }
}

const wayText = ({ node, door }: Way): string => (door === 'bus' ? 'bus' : `node ${node}`);

const fits = ({ outcome, body }: Did, answer: Answer): boolean =>
  answer.outcomes.includes(outcome) && isDeepStrictEqual(plain(body), plain(answer.body));

/** The expected answer in the shape of what was done; any of the outcomes that are right is the one. */
const asExpected = ({ outcome }: Did, { outcomes, body }: Answer): unknown =>
  plain({ outcome: outcomes.includes(outcome) ? outcome : outcomes.join(' or '), body });

async function check(turns: fc.Arbitrary<Turn[]>): Promise<void> {
  const sequence = fc.asyncProperty(opening, turns, (first, then) =>
    play([...first.map((sent) => [sent]), ...then]),
  );
  const { failed, seed, counterexamplePath, errorInstance } = await fc.check(sequence, {
    seed: SEED,
    ...(PATH === undefined ? {} : { path: PATH }),
    ...(RUNS === undefined
      ? { numRuns: 10_000, interruptAfterTimeLimit: TIME_MS }
      : { numRuns: Number(RUNS) }),
  });
  if (!failed) return;
  const { message } = errorInstance as Error;
  throw new Error(`MODEL_SEED=${seed} MODEL_PATH=${counterexamplePath}\n${message}`);
}

const LONGEST = RUNS === undefined ? 60_000 : 86_400_000;

describe('Chapters 5 to 7, in any sequence of verbs over two nodes', () => {
  it(
    'answer as the reference model, and leave every task and inbox as it does',
    () => check(fc.array(fc.tuple(anyCommand), LENGTH)),
    LONGEST,
  );

  it(
    'two at once, one on each node, come to what one of the two orders comes to',
    () => check(fc.array(fc.oneof(fc.tuple(anyCommand), atOnce()), LENGTH)),
    LONGEST,
  );
});

function atOnce(): fc.Arbitrary<Turn> {
  return fc.tuple(anyCommand, anyCommand).map(([one, other]) => [
    { ...one, node: 0 },
    { ...other, node: 1 },
  ]);
}
