import fc from 'fast-check';
import type { Command } from './command.js';
import type { State } from './world.js';

/**
 * A command as fast-check draws it: what it is about is said by how far back that is, and who acts by their part in it. It
 * becomes a command in the state at hand, or none, so that any part of a sequence makes sense.
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
export function weightedOf<T>(choices: readonly (readonly [number, fc.Arbitrary<T>])[]): fc.Arbitrary<T> {
  return fc.oneof(...choices.map(([weight, arbitrary]) => ({ weight: 2 * weight, arbitrary })));
}

export const back = fc.oneof({ weight: 5, arbitrary: fc.nat(3) }, { weight: 1, arbitrary: fc.nat(40) });
export const nth = <T>(list: readonly T[], distance: number): T | undefined =>
  list[list.length - 1 - (distance % Math.max(1, list.length))];

export const rarely = <T>(usual: fc.Arbitrary<T>, seldom: fc.Arbitrary<T>, weight = 5): fc.Arbitrary<T> =>
  fc.oneof({ weight, arbitrary: usual }, { weight: 1, arbitrary: seldom });
export const maybe = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined });
