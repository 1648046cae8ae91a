import { LRUCache } from 'lru-cache';
import type { NodeEvents, NodeTopics } from '../bus/node-events.js';

/** The topics whose events name one changed thing by its id. */
type ChangeTopic = {
  [T in keyof NodeTopics]: NodeTopics[T] extends { id: string } ? T : never;
}[keyof NodeTopics];

/** However it is: an event that a node without its bus could not send is made up for after this long. */
const REMEMBERED_MS = 5_000;

/**
 * A bounded memory of rows that rarely change, dropped by the event that says one did. While events may be lost it
 * remembers nothing, so a node without its bus reads the database and stays right (chapter 8).
 *
 * A load that was under way when its event came is answered, and not kept.
 */
export class VersionedCache<Value extends object> {
  private readonly cache: LRUCache<string, Value>;
  private readonly loads = new Map<string, { load: Promise<Value | undefined>; stale: boolean }>();

  /** `max` rows; `topics` are the events whose id is the cache's key. */
  constructor(
    private readonly events: NodeEvents,
    max: number,
    topics: readonly ChangeTopic[],
  ) {
    this.cache = new LRUCache({ max, ttl: REMEMBERED_MS });
    for (const topic of topics) events.on(topic, ({ id }) => this.drop(id));
    events.onGap(() => this.dropAll());
  }

  /** The row of `id`, from memory or loaded; undefined when there is none (which is not remembered). */
  async get(id: string, load: (id: string) => Promise<Value | undefined>): Promise<Value | undefined> {
    if (!this.events.isReliable) return load(id);
    const known = this.cache.get(id);
    if (known) return known;
    const under = this.loads.get(id);
    if (under) return under.load;
    const entry = { load: load(id), stale: false };
    this.loads.set(id, entry);
    try {
      const value = await entry.load;
      if (value && !entry.stale && this.events.isReliable) this.cache.set(id, value);
      return value;
    } finally {
      if (this.loads.get(id) === entry) this.loads.delete(id);
    }
  }

  /** What is in memory just now, without loading. */
  peek(id: string): Value | undefined {
    return this.events.isReliable ? this.cache.get(id) : undefined;
  }

  drop(id: string): void {
    this.cache.delete(id);
    const under = this.loads.get(id);
    if (under) under.stale = true;
    this.loads.delete(id);
  }

  private dropAll(): void {
    this.cache.clear();
    for (const entry of this.loads.values()) entry.stale = true;
    this.loads.clear();
  }
}
