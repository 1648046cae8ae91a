import { afterAll, beforeAll, describe, it } from '@jest/globals';
import fc from 'fast-check';
import { Sweep } from '../../src/work/sweep.service.js';
import { TestNode } from '../support/node.js';
import { plain, play, type Reading, type Turn, unordered } from './play.js';
import type { Nodes } from './real-world.js';
import { shortened } from './shortened.js';
import { anyCommand, opening } from './sketches.js';

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

let nodes: Nodes;

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

async function check(turns: fc.Arbitrary<Turn[]>, reading: Reading): Promise<void> {
  const whole = fc
    .tuple(opening, turns)
    .map(([first, then]): Turn[] => [...first.map((sent) => [sent]), ...then]);
  const found = await fc.check(
    fc.asyncProperty(whole, (sequence) => play(nodes, sequence, reading)),
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
  play(nodes, turns, reading).then(
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
