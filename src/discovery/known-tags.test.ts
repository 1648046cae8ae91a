import { afterEach, describe, expect, it, jest } from '@jest/globals';
import type { NodeEvents } from '../bus/node-events.js';
import type { DiscoveryTagRow } from './discovery.sql.js';
import { KnownTags } from './known-tags.js';

/** Events as KnownTags hears them, raised by the test. */
class RaisedEvents {
  isReliable = true;
  private readonly heard = new Map<string, () => void>();

  on(topic: string, listener: () => void): void {
    this.heard.set(topic, listener);
  }

  onGap(listener: () => void): void {
    this.heard.set('gap', listener);
  }

  raise(topic: string): void {
    this.heard.get(topic)?.();
  }
}

const ready = (ready_ms: number | null): DiscoveryTagRow => ({ ready_ms }) as DiscoveryTagRow;

function start(): { events: RaisedEvents; tags: KnownTags } {
  const events = new RaisedEvents();
  return { events, tags: new KnownTags(events as unknown as NodeEvents) };
}

describe('a known tag', () => {
  afterEach(() => {
    jest.useRealTimers();
  });

  it('is that of the answer it was remembered for, and of no other', () => {
    const { tags } = start();
    tags.remember('page of a', 'W/"1"', [ready(null)], tags.begin());
    expect(tags.of('page of a')).toBe('W/"1"');
    expect(tags.of('page of b')).toBeUndefined();
  });

  it.each(['executor', 'credential', 'member', 'gap'])('is forgotten by the event %s', (topic) => {
    const { events, tags } = start();
    tags.remember('page', 'W/"1"', [], tags.begin());
    events.raise(topic);
    expect(tags.of('page')).toBeUndefined();
  });

  it('is not remembered when something changed while the page was read', () => {
    const { events, tags } = start();
    const reading = tags.begin();
    events.raise('executor');
    tags.remember('page', 'W/"1"', [], reading);
    expect(tags.of('page')).toBeUndefined();
  });

  it('is not trusted, nor remembered, while events may be lost', () => {
    const { events, tags } = start();
    tags.remember('page', 'W/"1"', [], tags.begin());
    events.isReliable = false;
    expect(tags.of('page')).toBeUndefined();
    tags.remember('other', 'W/"2"', [], tags.begin());
    events.isReliable = true;
    expect(tags.of('other')).toBeUndefined();
  });

  it('ends when the first executor on it stops being credential-ready', () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
    const { tags } = start();
    tags.remember('page', 'W/"1"', [ready(null), ready(5_000), ready(9_000)], tags.begin());
    jest.advanceTimersByTime(4_999);
    expect(tags.of('page')).toBe('W/"1"');
    jest.advanceTimersByTime(1);
    expect(tags.of('page')).toBeUndefined();
  });
});
