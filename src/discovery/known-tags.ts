import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { NodeEvents } from '../bus/node-events.js';
import type { DiscoveryTagRow } from './discovery.sql.js';

/** What may change a page of discovery; a credential's expiry is the one change without an event. */
const TOPICS = ['executor', 'credential', 'member'] as const;

interface KnownTag {
  readonly tag: string;
  /** On `performance.now()`: when the first executor that it covers stops being credential-ready. */
  readonly until: number;
}

/** Taken before a page is read: a page read while something changed is not remembered. */
export interface Reading {
  readonly generation: number;
  readonly startedAt: number;
}

/**
 * Tags of answers as they stand now, so that an unchanged page costs no statement. Any change to an executor, a credential
 * or a member forgets them all, and while events may be lost nothing is remembered.
 */
@Injectable()
export class KnownTags {
  private readonly tags = new LRUCache<string, KnownTag>({ max: 20_000 });
  private generation = 0;

  constructor(private readonly events: NodeEvents) {
    for (const topic of TOPICS) events.on(topic, () => this.forget());
    events.onGap(() => this.forget());
  }

  /** The current tag of an answer, if it is known. */
  of(key: string): string | undefined {
    if (!this.events.isReliable) return undefined;
    const known = this.tags.get(key);
    return known && performance.now() < known.until ? known.tag : undefined;
  }

  begin(): Reading {
    return { generation: this.generation, startedAt: performance.now() };
  }

  /** Remembers the tag of an answer made from `rows`, all that were read for it. */
  remember(key: string, tag: string, rows: readonly DiscoveryTagRow[], reading: Reading): void {
    if (!this.events.isReliable || reading.generation !== this.generation) return;
    const readyMs = rows.map(({ ready_ms }) => ready_ms ?? Infinity);
    this.tags.set(key, { tag, until: reading.startedAt + Math.min(Infinity, ...readyMs) });
  }

  private forget(): void {
    this.generation += 1;
    this.tags.clear();
  }
}
