import { isDeepStrictEqual } from 'node:util';
import { expect } from '@jest/globals';
import type { Answer, Command } from './command.js';
import { type Nodes, RealWorld, type Way } from './real-world.js';
import { apply, observation, overtaken } from './reference-model.js';
import { type Context, History, type Sent } from './sketch.js';
import { firstState, type State } from './world.js';

type Did = { readonly outcome: string; readonly body: Answer['body'] };

/** One command, or two at once. */
export type Turn = readonly Sent[];

/** As JSON says it: what is undefined is not there. */
export const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null));

/** How what is seen is compared. */
export type Reading = (value: unknown) => unknown;

/** Without the order of lists: tasks that two requests made at once may stand between each other. */
export const unordered = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value ?? null), (_, part: unknown) =>
    Array.isArray(part) ? part.toSorted((one, other) => (textOf(one) < textOf(other) ? -1 : 1)) : part,
  );
const textOf = (value: unknown): string => JSON.stringify(value);

/**
 * Plays the turns in the real world and in the model. Throws where they part, with all commands so far. What two commands at
 * once came to may not show for a while: until it does, the model is in every state that fits what was seen.
 */
export async function play(nodes: Nodes, turns: readonly Turn[], reading: Reading): Promise<void> {
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
  const expected = before.flatMap((state) =>
    orders.flatMap((order) => outcomesOf(state, sent, order, reading)),
  );
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

/** What the commands come to in this order; of two at once also where the second is overtaken by the first. */
function outcomesOf(
  before: State,
  sent: readonly Resolved[],
  order: readonly number[],
  reading: Reading,
): Outcome[] {
  const state = structuredClone(before);
  const answers: Answer[] = [];
  const outcomes: Outcome[] = [];
  const note = (): void => {
    const seen = reading(observation(state));
    outcomes.push({ state: structuredClone(state), answers: plain(answers) as Answer[], seen });
  };
  for (const [turn, place] of order.entries()) {
    const { command } = sent[place] as Resolved;
    const alternative = turn > 0 ? overtaken(before, state, command) : undefined;
    if (alternative) {
      answers[place] = alternative;
      note();
    }
    answers[place] = apply(state, command, sent.length > 1);
  }
  note();
  return outcomes;
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
