import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { NodeEvents } from '../bus/node-events.js';
import { Database } from '../db/database.js';
import { statement } from '../db/statement.js';
import { VersionedCache } from '../identity/versioned-cache.js';
import { type AnnouncementRecord, type AnnouncementRow, readAnnouncement } from './announcement-record.js';

export type { AnnouncementRecord, ServedTool } from './announcement-record.js';

/** Characters of announcements that a node keeps parsed: some hundred large ones, thousands of ordinary ones. */
const PARSED_CHARACTERS = 64 * 1024 * 1024;
/** What a record weighs beside its texts. */
const RECORD_CHARACTERS = 1_024;

/** The texts only when the version is not the known one: a node that must not trust its memory reads a few bytes. */
const readIfNewer = statement<
  [executorId: string, knownVersion: number],
  { readonly version: string; readonly tools: null } | AnnouncementRow
>(
  'announcement_read_if_newer',
  `select version, executor_id, account_id, delivery, max_in_flight, instance_id, announced_at,
          case when version <> $2 then tools::text end as tools,
          case when version <> $2 then environment::text end as environment,
          case when version <> $2 then documents::text end as documents
   from announcements where executor_id = $1`,
);

/**
 * What each executor serves, parsed once for each version. A replacement is seen as soon as its event is; while events may
 * be lost, every `get` asks the database for the version. An executor that never announced has no record: it serves
 * nothing. Whoever accepts or delivers checks the name again inside its own statement.
 */
@Injectable()
export class AnnouncementDirectory {
  /** The version that is current, for as long as no event says otherwise. */
  private readonly versions: VersionedCache<{ readonly version: number }>;
  private readonly records = new LRUCache<string, AnnouncementRecord>({ maxSize: PARSED_CHARACTERS });

  constructor(
    private readonly database: Database,
    events: NodeEvents,
  ) {
    this.versions = new VersionedCache(events, 20_000, ['executor']);
  }

  async get(executorId: string): Promise<AnnouncementRecord | undefined> {
    const current = await this.versions.get(executorId, async () => {
      const record = await this.load(executorId);
      return record && { version: record.version };
    });
    if (!current) return undefined;
    const record = this.records.get(executorId);
    return record && record.version >= current.version ? record : this.load(executorId);
  }

  private async load(executorId: string): Promise<AnnouncementRecord | undefined> {
    const known = this.records.get(executorId);
    const row = await this.database.row(readIfNewer, executorId, known?.version ?? 0);
    if (!row) return undefined;
    if (row.tools === null) return known;
    const record = readAnnouncement(row);
    const size = RECORD_CHARACTERS + row.tools.length + row.environment.length + row.documents.length;
    this.records.set(executorId, record, { size });
    return record;
  }
}
