import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { NodeEvents } from '../bus/node-events.js';
import { Database } from '../db/database.js';
import { statement } from '../db/statement.js';

export type PresenceState = 'online' | 'offline' | 'not_yet_seen';

/** Heard from within this long: online (chapter 1). */
const ONLINE_MS = 30_000;
/** `last_seen_at` is a sample: at most one write a minute for each executor. */
const SAMPLE_MS = 60_000;
/** How often a node tells the others whom it heard from. */
const SHARE_MS = 5_000;

const sampleContact = statement<[id: string, gap: boolean], never>(
  'presence_sample',
  `update executors
   set last_seen_at = now(), connected_at = case when $2 or connected_at is null then now() else connected_at end
   where id = $1 and (last_seen_at is null or last_seen_at < now() - interval '59 seconds')`,
);

/**
 * Who was heard from lately, for display only: it decides nothing. Each node tells the others whom it heard from, so all
 * show the same within seconds; the database keeps a sample.
 */
@Injectable()
export class Presence implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly log = new Logger(Presence.name);
  private readonly contacts = new LRUCache<string, { at: number; sampledAt: number }>({ max: 100_000 });
  private fresh = new Set<string>();
  private sharing: NodeJS.Timeout | undefined;
  private readonly listeners: ((executorId: string) => void)[] = [];

  constructor(
    private readonly database: Database,
    private readonly events: NodeEvents,
  ) {
    events.on('presence', ({ executors }) => {
      for (const id of executors) this.note(id);
    });
  }

  onApplicationBootstrap(): void {
    this.sharing = setInterval(() => this.share(), SHARE_MS).unref();
  }

  onApplicationShutdown(): void {
    clearInterval(this.sharing);
  }

  /** An authenticated contact, on either door. */
  heard(executorId: string): void {
    const now = Date.now();
    const known = this.contacts.get(executorId);
    const gap = !known || now - known.at > ONLINE_MS;
    const contact = this.note(executorId);
    this.fresh.add(executorId);
    for (const listener of this.listeners) listener(executorId);
    if (now - contact.sampledAt < SAMPLE_MS) return;
    contact.sampledAt = now;
    this.database.rows(sampleContact, executorId, gap).catch((fault: Error) => {
      contact.sampledAt = 0;
      this.log.warn(`a contact was not sampled: ${fault.message}`);
    });
  }

  /** Calls `listener` at each contact that this node has. It is on the path of every request. */
  onHeard(listener: (executorId: string) => void): void {
    this.listeners.push(listener);
  }

  of(executorId: string, lastSeenAt: Date | null): PresenceState {
    const at = Math.max(this.contacts.get(executorId)?.at ?? 0, lastSeenAt?.getTime() ?? 0);
    if (at === 0) return 'not_yet_seen';
    return Date.now() - at <= ONLINE_MS ? 'online' : 'offline';
  }

  private note(executorId: string): { at: number; sampledAt: number } {
    const contact = this.contacts.get(executorId) ?? { at: 0, sampledAt: 0 };
    contact.at = Date.now();
    this.contacts.set(executorId, contact);
    return contact;
  }

  private share(): void {
    if (this.fresh.size === 0) return;
    const executors = [...this.fresh];
    this.fresh = new Set();
    for (let from = 0; from < executors.length; from += 1_000) {
      this.events.publish('presence', { executors: executors.slice(from, from + 1_000) });
    }
  }
}
