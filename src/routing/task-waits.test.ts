import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { NodeEvents } from '../bus/node-events.js';
import type { BusConnections } from '../bus/bus-connections.js';
import type { Env } from '../config/env.js';
import { Metrics } from '../doors/metrics.js';
import type { TaskRow } from './task-row.js';
import { TaskWaits } from './task-waits.js';

/** A node's events without a bus: `hear` is a task event of another node. */
function eventsOf(isUp: boolean): { events: NodeEvents; lose: () => void; hear: (key: string) => void } {
  const changes: (() => void)[] = [];
  const heard = new Map<string, (fault: null, message: { data: Uint8Array }) => void>();
  const connection = {
    subscribe: (subject: string, { callback }: { callback: () => void }) => heard.set(subject, callback),
    publish: () => undefined,
  };
  const nodes = {
    isUp,
    onOpen: (use: (open: typeof connection) => void) => use(connection),
    publish: () => isUp,
    onChange: (change: () => void) => changes.push(change),
  };
  const env = { NEXUS_BUS_PREFIX: 'test' } as Env;
  const events = new NodeEvents(env, { nodes } as unknown as BusConnections);
  const hear = (key: string): void => {
    heard.get('test.node.task')?.(null, { data: Buffer.from(JSON.stringify({ run: 'r', key })) });
  };
  return { events, hear, lose: () => changes.forEach((change) => change()) };
}

const waitsOn = (events: NodeEvents): TaskWaits => new TaskWaits(events, new Metrics());

const row = (status: TaskRow['status']): TaskRow => ({ run_id: 'r', task_key: 'k', status }) as TaskRow;

describe('A wait for a task', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  const begin = (
    waits: TaskWaits,
    read: () => TaskRow,
    ms = 60_000,
  ): { reads: () => number; done: Promise<TaskRow> } => {
    let reads = 0;
    const done = waits.untilFinal('r', 'k', ms, () => {
      reads += 1;
      return Promise.resolve(read());
    });
    return { reads: () => reads, done };
  };

  it('reads once without a time to wait', async () => {
    const { done, reads } = begin(waitsOn(eventsOf(true).events), () => row('dispatched'), 0);
    expect((await done).status).toBe('dispatched');
    expect(reads()).toBe(1);
  });

  it('is answered at once by a final task', async () => {
    const { done } = begin(waitsOn(eventsOf(true).events), () => row('failed'));
    expect((await done).status).toBe('failed');
  });

  it('reads again when the task is said to have changed, and by no other task', async () => {
    const { events, hear } = eventsOf(true);
    let status: TaskRow['status'] = 'dispatched';
    const { done, reads } = begin(waitsOn(events), () => row(status));
    await jest.advanceTimersByTimeAsync(10);
    hear('other');
    await jest.advanceTimersByTimeAsync(10);
    expect(reads()).toBe(1);
    status = 'completed';
    hear('k');
    expect((await done).status).toBe('completed');
    expect(reads()).toBe(2);
  });

  it('misses no change that falls into its first read', async () => {
    const { events, hear } = eventsOf(true);
    let status: TaskRow['status'] = 'dispatched';
    const { done } = begin(waitsOn(events), () => {
      const seen = row(status);
      if (status === 'dispatched') {
        status = 'completed';
        hear('k');
      }
      return seen;
    });
    expect((await done).status).toBe('completed');
  });

  it('takes a row that this node settled without reading it', async () => {
    const waits = waitsOn(eventsOf(true).events);
    const { done, reads } = begin(waits, () => row('dispatched'));
    await jest.advanceTimersByTimeAsync(10);
    waits.hand(row('completed'));
    expect((await done).status).toBe('completed');
    expect(reads()).toBe(1);
  });

  it('waits on for a row that this node moved and that is not final', async () => {
    const waits = waitsOn(eventsOf(true).events);
    const { done, reads } = begin(waits, () => row('dispatched'));
    await jest.advanceTimersByTimeAsync(10);
    waits.hand(row('dispatched'));
    await jest.advanceTimersByTimeAsync(10);
    waits.hand(row('completed'));
    expect((await done).status).toBe('completed');
    expect(reads()).toBe(1);
  });

  it('reads when another node moved the task at the moment a row is handed over', async () => {
    const { events, hear } = eventsOf(true);
    const waits = waitsOn(events);
    let status: TaskRow['status'] = 'dispatched';
    const { done, reads } = begin(waits, () => row(status));
    await jest.advanceTimersByTimeAsync(10);
    status = 'completed';
    waits.hand(row('dispatched'));
    hear('k');
    expect((await done).status).toBe('completed');
    expect(reads()).toBe(2);
  });

  it('does not read a task that the caller has just written, and looks after it once soon', async () => {
    let reads = 0;
    const read = (): Promise<TaskRow> => {
      reads += 1;
      return Promise.resolve(row('completed'));
    };
    const done = waitsOn(eventsOf(true).events).untilFinal('r', 'k', 60_000, read, row('dispatched'));
    await jest.advanceTimersByTimeAsync(249);
    expect(reads).toBe(0);
    await jest.advanceTimersByTimeAsync(2);
    expect((await done).status).toBe('completed');
    expect(reads).toBe(1);
  });

  it.each([
    [true, 5_000],
    [false, 250],
  ])('looks for itself: events reliable %s, every %s ms', async (isUp, every) => {
    const { reads } = begin(waitsOn(eventsOf(isUp).events), () => row('dispatched'));
    await jest.advanceTimersByTimeAsync(every - 1);
    expect(reads()).toBe(1);
    await jest.advanceTimersByTimeAsync(2);
    expect(reads()).toBe(2);
  });

  it('looks at once when events may have been missed', async () => {
    const { events, lose } = eventsOf(true);
    const { reads } = begin(waitsOn(events), () => row('dispatched'));
    await jest.advanceTimersByTimeAsync(10);
    lose();
    await jest.advanceTimersByTimeAsync(1);
    expect(reads()).toBe(2);
  });

  it('ends with the task as it is', async () => {
    const { done } = begin(waitsOn(eventsOf(true).events), () => row('dispatched'), 1_000);
    await jest.advanceTimersByTimeAsync(1_001);
    expect((await done).status).toBe('dispatched');
  });

  it('is let go when the node shuts down', async () => {
    const waits = waitsOn(eventsOf(true).events);
    const { done } = begin(waits, () => row('dispatched'));
    await jest.advanceTimersByTimeAsync(10);
    expect(waits.count).toBe(1);
    await waits.beforeApplicationShutdown();
    expect(waits.count).toBe(0);
    expect((await done).status).toBe('dispatched');
  });
});
