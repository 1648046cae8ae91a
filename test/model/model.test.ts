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
 * MODEL_SEED and MODEL_RUNS choose other sequences and more of them. A failure prints the seed of its sequence, which plays
 * it alone with MODEL_RUNS=1, and a shorter one that fails.
 */
const SEED = Number(process.env['MODEL_SEED'] ?? 7_420);
const RUNS = Number(process.env['MODEL_RUNS'] ?? 0);
/** Of each property, where nobody asked for a number of runs: no sequence begins later. */
const TIME_MS = 10_000;
/** How long a failing sequence is made shorter. */
const SHORTEN_MS = 60_000;
const LENGTH = { minLength: 60, maxLength: 120, size: 'max' } as const;

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
  const end = performance.now() + TIME_MS;
  for (let run = 0; RUNS > 0 ? run < RUNS : performance.now() < end; run += 1) {
    const [sequence = []] = fc.sample(fc.noBias(whole), { seed: SEED + run, numRuns: 1 });
    const failure = await failureOf(sequence, reading);
    if (failure !== undefined) throw await shorterFailure(sequence, failure, reading, SEED + run);
  }
}

async function shorterFailure(
  sequence: readonly Turn[],
  failure: string,
  reading: Reading,
  seed: number,
): Promise<Error> {
  let shortest = failure;
  const fails = async (shorter: readonly Turn[]): Promise<boolean> => {
    const again = await failureOf(shorter, reading);
    shortest = again ?? shortest;
    return again !== undefined;
  };
  await shortened(sequence, fails, SHORTEN_MS);
  return new Error(`MODEL_SEED=${seed}\n${shortest}`);
}

/** What is wrong with these turns. */
const failureOf = (turns: readonly Turn[], reading: Reading): Promise<string | undefined> =>
  play(nodes, turns, reading).then(
    () => undefined,
    (fault: unknown) => (fault as Error).message,
  );

const LONGEST = RUNS > 0 ? 86_400_000 : TIME_MS + 2 * SHORTEN_MS;

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
