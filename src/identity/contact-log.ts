import { Injectable, Logger } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Database } from '../db/database.js';
import { statement } from '../db/statement.js';

/** `last_used_at` is a sample: at most one write a minute for each credential. */
const SAMPLE_MS = 60_000;

const sampleUse = statement<[id: string], never>(
  'credential_sample_use',
  `update credentials set last_used_at = now()
   where id = $1 and (last_used_at is null or last_used_at < now() - interval '59 seconds')`,
);

/** Remembers when credentials were last used, off the path of the request. */
@Injectable()
export class ContactLog {
  private readonly log = new Logger(ContactLog.name);
  private readonly sampled = new LRUCache<string, number>({ max: 100_000 });

  constructor(private readonly database: Database) {}

  used(credentialId: string): void {
    const now = Date.now();
    if (now - (this.sampled.get(credentialId) ?? 0) < SAMPLE_MS) return;
    this.sampled.set(credentialId, now);
    this.database.rows(sampleUse, credentialId).catch((fault: Error) => {
      this.log.warn(`a credential's use was not sampled: ${fault.message}`);
    });
  }
}
