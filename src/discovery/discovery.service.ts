import { Injectable } from '@nestjs/common';
import { Database } from '../db/database.js';
import { Answer } from '../doors/answer.js';
import type { MemberCaller } from '../doors/caller.js';
import { paginationOf } from '../doors/page.js';
import { refuse } from '../errors/refusal.js';
import { Presence } from '../identity/presence.js';
import { DISCOVERY_KINDS, type DiscoveryRequest } from './discovery-request.js';
import { discoveryJson } from './discovery-row.js';
import { type DiscoveryTagRow, readOne, readOneTag, readPage, readPageTag } from './discovery.sql.js';
import { namesTag, tagOf } from './entity-tag.js';
import { KnownTags } from './known-tags.js';

/** Sorts before every id: the first page begins behind it. */
const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';

/** One read of discovery: how to get its rows, without and with what they serve, and what to answer with them. */
interface Read<Row extends DiscoveryTagRow> {
  /** Names the answer among all of this node: member and parameters. */
  readonly key: string;
  readonly readTags: () => Promise<DiscoveryTagRow[]>;
  readonly readRows: () => Promise<Row[]>;
  /** The tag of the answer that these rows make. Throws when they make none. */
  readonly tag: (rows: readonly DiscoveryTagRow[]) => string;
  readonly body: (rows: readonly Row[]) => object;
}

/**
 * Which executors a member may address (chapter 3). Invariant: every row is eligible for the member in the statement that
 * reads it, and a tag is made from the very rows it is sent with, so a `304` never hides a change.
 */
@Injectable()
export class DiscoveryService {
  constructor(
    private readonly database: Database,
    private readonly presence: Presence,
    private readonly tags: KnownTags,
  ) {}

  /** A page; `304` when `ifNoneMatch` names its tag. */
  list(caller: MemberCaller, request: DiscoveryRequest, ifNoneMatch: string | undefined): Promise<Answer> {
    const { accountId, memberId } = caller;
    const { kinds, limit, after, view, words } = request;
    const params = [accountId, memberId, kinds, limit, after ?? BEFORE_ALL, words] as const;
    return this.answer(ifNoneMatch, {
      key: JSON.stringify(params) + view,
      readTags: () => this.database.rows(readPageTag[view], ...params),
      readRows: () => this.database.rows(readPage[view], ...params),
      tag: (rows) => tagOf(onPage(rows), `${view} ${nextAfter(rows).next_after}`),
      body: (rows) => ({
        executors: onPage(rows).map((row) => discoveryJson(row, this.presence)),
        pagination: nextAfter(rows),
      }),
    });
  }

  /** One executor, whole. Throws `not_found` for all that discovery does not show the caller. */
  get(caller: MemberCaller, executorId: string, ifNoneMatch: string | undefined): Promise<Answer> {
    const params = [caller.accountId, caller.memberId, DISCOVERY_KINDS, executorId] as const;
    return this.answer(ifNoneMatch, {
      key: JSON.stringify(params),
      readTags: () => this.database.rows(readOneTag, ...params),
      readRows: () => this.database.rows(readOne, ...params),
      tag: (rows) => {
        if (rows.length === 0) throw refuse('not_found');
        return tagOf(rows, 'one');
      },
      body: ([row]) => ({ executor: row && discoveryJson(row, this.presence) }),
    });
  }

  private async answer<Row extends DiscoveryTagRow>(
    asked: string | undefined,
    read: Read<Row>,
  ): Promise<Answer> {
    if (asked !== undefined) {
      const tag = this.tags.of(read.key) ?? (await this.remembered(read, read.readTags)).tag;
      if (namesTag(asked, tag)) return new Answer(undefined, 304, headersOf(tag));
    }
    const { rows, tag } = await this.remembered(read, read.readRows);
    return new Answer(read.body(rows), 200, headersOf(tag));
  }

  /** Reads rows, with or without what they serve, and remembers their tag. */
  private async remembered<Row extends DiscoveryTagRow>(
    read: Pick<Read<DiscoveryTagRow>, 'key' | 'tag'>,
    load: () => Promise<Row[]>,
  ): Promise<{ rows: Row[]; tag: string }> {
    const begun = this.tags.begin();
    const rows = await load();
    const tag = read.tag(rows);
    this.tags.remember(read.key, tag, rows, begun);
    return { rows, tag };
  }
}

const onPage = <Row extends DiscoveryTagRow>(rows: readonly Row[]): Row[] =>
  rows.filter((row) => row.on_page);

function nextAfter(rows: readonly DiscoveryTagRow[]): { readonly next_after: string | null } {
  const shown = onPage(rows);
  return paginationOf(shown.at(-1)?.id, shown.length < rows.length);
}

/** Only the asker may keep the answer, and must ask again before using it. */
const headersOf = (tag: string): Record<string, string> => ({
  ETag: tag,
  'Cache-Control': 'private, no-cache',
});
