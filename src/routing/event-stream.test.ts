import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { describe, expect, it, jest } from '@jest/globals';
import { EventStream } from './event-stream.js';

/** As much of a response as a stream uses. `takes` says whether its reader keeps up. */
class FakeResponse extends EventEmitter {
  readonly written: string[] = [];
  takes = true;
  isEnded = false;
  isDestroyed = false;

  get writableNeedDrain(): boolean {
    return !this.takes;
  }

  writeHead(): void {
    this.written.push('head');
  }

  write(text: string): boolean {
    this.written.push(text);
    return this.takes;
  }

  end(): void {
    this.isEnded = true;
  }

  destroy(): void {
    this.isDestroyed = true;
    this.emit('close');
  }
}

function open(): { response: FakeResponse; stream: EventStream } {
  const response = new FakeResponse();
  return { response, stream: new EventStream(response as unknown as ServerResponse) };
}

describe('A stream of events', () => {
  it('gives each line of its data a field of its own', async () => {
    const { response, stream } = open();
    await stream.send('task', '{\n"a":\r\n1}', 'x');
    expect(response.written.at(-1)).toBe('event: task\nid: x\ndata: {\ndata: "a":\ndata: 1}\n\n');
  });

  it('waits for a reader that is behind', async () => {
    const { response, stream } = open();
    response.takes = false;
    let isSent = false;
    const sent = stream.send('task', '1').then(() => (isSent = true));
    await Promise.resolve();
    expect([isSent, stream.isBehind]).toEqual([false, true]);
    response.takes = true;
    response.emit('drain');
    await sent;
    expect(response.isDestroyed).toBe(false);
  });

  it('sends a reader that is behind no heartbeat', () => {
    const { response, stream } = open();
    response.takes = false;
    const before = response.written.length;
    stream.heartbeat();
    expect(response.written).toHaveLength(before);
  });

  it('writes nothing once it was ended, and cuts a reader that does not take the rest', async () => {
    jest.useFakeTimers();
    try {
      const { response, stream } = open();
      let isToldClosed = false;
      stream.onClose(() => (isToldClosed = true));
      stream.end();
      expect([response.isEnded, stream.isClosed, isToldClosed]).toEqual([true, true, true]);
      const before = response.written.length;
      await stream.send('task', '1');
      stream.heartbeat();
      expect(response.written).toHaveLength(before);
      expect(response.isDestroyed).toBe(false);
      jest.advanceTimersByTime(1_001);
      expect(response.isDestroyed).toBe(true);
    } finally {
      jest.useRealTimers();
    }
  });

  it('stops waiting when its reader leaves', async () => {
    const { response, stream } = open();
    response.takes = false;
    const sent = stream.send('task', '1');
    response.emit('close');
    await sent;
    expect(stream.isClosed).toBe(true);
  });
});
