import { describe, expect, it } from '@jest/globals';
import type { EventStream } from './event-stream.js';
import { RunFollower } from './run-follower.js';
import type { TaskRow } from './task-row.js';

const row = (task_key: string, status: TaskRow['status'] = 'dispatched'): TaskRow =>
  ({
    task_key,
    status,
    generation: 1,
    tool_input_text: '{}',
    effect_profile_text: '{}',
    content_text: null,
    structured_content_text: null,
    metadata_text: null,
    approval_text: null,
    target_id: null,
    claimed_by: null,
    error_key: null,
    claimed_at: null,
    deadline_at: null,
    settled_at: status === 'dispatched' ? null : new Date(0),
  }) as unknown as TaskRow;

/** A run of these tasks, and what a reader was sent of it. */
function stage(tasks: Map<string, TaskRow>) {
  const sent: string[] = [];
  const rounds: number[] = [];
  let onSend: () => void = () => undefined;
  const stream = {
    isClosed: false,
    isBehind: false,
    send: (event: string, _json: string, id?: string) => {
      sent.push(
        event === 'task'
          ? (id ?? '')
              .split('.')
              .filter((_, at) => at !== 1)
              .slice(0, 2)
              .join(' ')
          : event,
      );
      onSend();
      return Promise.resolve();
    },
  };
  const follower = new RunFollower(
    {
      states: () => Promise.resolve([...tasks.values()]),
      tasks: (keys) => {
        rounds.push(keys.length);
        return Promise.resolve(keys.flatMap((key) => tasks.get(key) ?? []));
      },
    },
    stream as unknown as EventStream,
  );
  return { follower, stream, sent, rounds, whenSent: (then: () => void) => (onSend = then) };
}

describe('A follower of a run', () => {
  it('sends every task once, and again only when it changed', async () => {
    const tasks = new Map([
      ['a', row('a')],
      ['b', row('b')],
    ]);
    const { follower, sent } = stage(tasks);
    await follower.look();
    await follower.look();
    await follower.touch('a');
    expect(sent).toEqual(['a dispatched', 'b dispatched']);
    tasks.set('a', row('a', 'completed'));
    await follower.look();
    expect(sent.at(-1)).toBe('a completed');
  });

  it('sends what changes while it sends', async () => {
    const tasks = new Map([['a', row('a')]]);
    const { follower, sent, whenSent } = stage(tasks);
    whenSent(() => {
      if (tasks.get('a')?.status === 'completed') return;
      tasks.set('a', row('a', 'completed'));
      void follower.touch('a');
    });
    await follower.look();
    expect(sent).toEqual(['a dispatched', 'a completed']);
  });

  it('reads a large run in rounds', async () => {
    const tasks = new Map(Array.from({ length: 45 }, (_, index) => [`k${index}`, row(`k${index}`)]));
    const { follower, rounds, sent } = stage(tasks);
    await follower.look();
    expect(rounds).toEqual([20, 20, 5]);
    expect(sent).toHaveLength(45);
  });

  it('drops progress for a reader that is behind', async () => {
    const { follower, stream, sent } = stage(new Map());
    await follower.progress('{}');
    stream.isBehind = true;
    await follower.progress('{}');
    expect(sent).toEqual(['progress']);
  });

  it('stops when the reader leaves', async () => {
    const { follower, stream, sent, whenSent } = stage(
      new Map(Array.from({ length: 45 }, (_, index) => [`k${index}`, row(`k${index}`)])),
    );
    whenSent(() => (stream.isClosed = true));
    await follower.look();
    expect(sent.length).toBeLessThanOrEqual(20);
  });
});
