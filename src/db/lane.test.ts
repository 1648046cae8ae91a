import { describe, expect, it } from '@jest/globals';
import { Lane, type LaneOptions } from './lane.js';

/** A flush under way: its jobs, and how it ends. */
interface Flush {
  readonly jobs: readonly string[];
  done(outcomes?: readonly string[]): void;
  fail(fault: Error): void;
}

/** A lane of words; a word's key is its first letter. Flushes end when the test says so. */
function wordLane(options: Partial<LaneOptions<string, string>> = {}): {
  lane: Lane<string, string>;
  flushes: Flush[];
} {
  const flushes: Flush[] = [];
  const lane = new Lane<string, string>({
    name: 'words',
    keyOf: (word) => word.charAt(0),
    flush: (jobs) =>
      new Promise((resolve, reject) => {
        flushes.push({
          jobs,
          done: (outcomes = jobs.map((job) => job.toUpperCase())) => resolve(outcomes),
          fail: reject,
        });
      }),
    ...options,
  });
  return { lane, flushes };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const words = (letters: string): string[] => [...letters].map((letter) => `${letter}1`);
const sent = (flushes: readonly Flush[]): string[] => flushes.map(({ jobs }) => jobs.join(' '));

describe('A lane', () => {
  it('sends a job that is alone at once, within the turn', async () => {
    const { lane, flushes } = wordLane();
    const outcome = lane.run('a1');
    await Promise.resolve();
    expect(sent(flushes)).toEqual(['a1']);
    flushes[0]?.done();
    await expect(outcome).resolves.toBe('A1');
  });

  it('sends jobs that come together together, and answers each its own outcome', async () => {
    const { lane, flushes } = wordLane();
    const outcomes = Promise.all(words('abc').map((word) => lane.run(word)));
    await turn();
    expect(sent(flushes)).toEqual(['a1 b1 c1']);
    flushes[0]?.done();
    await expect(outcomes).resolves.toEqual(['A1', 'B1', 'C1']);
  });

  it('sends what has gathered as soon as a flush is done, the oldest first, at most `jobs` of them', async () => {
    const { lane, flushes } = wordLane({ flushes: 1, jobs: 3 });
    void lane.run('a1');
    await turn();
    for (const word of words('bcdefg')) void lane.run(word);
    await turn();
    expect(sent(flushes)).toEqual(['a1']);
    flushes[0]?.done();
    await turn();
    flushes[1]?.done();
    await turn();
    expect(sent(flushes)).toEqual(['a1', 'b1 c1 d1', 'e1 f1 g1']);
  });

  it('has a few flushes under way at a time', async () => {
    const { lane, flushes } = wordLane({ flushes: 2, jobs: 1 });
    for (const word of words('abcd')) void lane.run(word);
    await turn();
    expect(sent(flushes)).toEqual(['a1', 'b1']);
    flushes[1]?.done();
    await turn();
    expect(sent(flushes)).toEqual(['a1', 'b1', 'c1']);
  });

  it('has one job of a key under way at a time, in their order', async () => {
    const { lane, flushes } = wordLane();
    for (const word of ['a1', 'a2', 'b1', 'a3']) void lane.run(word);
    await turn();
    expect(sent(flushes)).toEqual(['a1 b1']);
    flushes[0]?.done();
    await turn();
    flushes[1]?.done();
    await turn();
    expect(sent(flushes)).toEqual(['a1 b1', 'a2', 'a3']);
  });

  it('closes a flush that has its bytes', async () => {
    const { lane, flushes } = wordLane({ flushes: 1, bytes: 10, bytesOf: () => 6 });
    for (const word of words('abc')) void lane.run(word);
    await turn();
    flushes[0]?.done();
    await turn();
    expect(sent(flushes)).toEqual(['a1 b1', 'c1']);
  });

  it('writes the jobs of a failed flush one by one: only the bad one fails', async () => {
    const { lane, flushes } = wordLane();
    const outcomes = Promise.allSettled(words('abc').map((word) => lane.run(word)));
    await turn();
    flushes[0]?.fail(Object.assign(new Error('invalid input syntax'), { code: '22P02' }));
    await turn();
    flushes[1]?.done();
    await turn();
    flushes[2]?.fail(Object.assign(new Error('invalid input syntax'), { code: '22P02' }));
    await turn();
    flushes[3]?.done();
    expect((await outcomes).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(sent(flushes)).toEqual(['a1 b1 c1', 'a1', 'b1', 'c1']);
  });

  it('fails all of a flush whose connection is lost, once, and goes on', async () => {
    const { lane, flushes } = wordLane();
    const outcomes = Promise.allSettled(words('ab').map((word) => lane.run(word)));
    await turn();
    flushes[0]?.fail(new Error('Connection terminated unexpectedly'));
    expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    const next = lane.run('a2');
    await turn();
    flushes[1]?.done();
    await expect(next).resolves.toBe('A2');
    expect(sent(flushes)).toEqual(['a1 b1', 'a2']);
  });

  it('takes a flush that answers too few outcomes for a fault', async () => {
    const { lane, flushes } = wordLane();
    const outcomes = Promise.allSettled(words('ab').map((word) => lane.run(word)));
    await turn();
    flushes[0]?.done(['A1']);
    expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });
});
