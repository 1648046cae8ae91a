import type { AccountId } from '../db/account-id.js';
import { statement } from '../db/statement.js';
import { eligible } from '../identity/eligibility.sql.js';
import type { DiscoveryKind } from './discovery-request.js';

/** A page ends early at 4 MiB of JSON, after at least one row (chapter 3). */
const PAGE_BYTES = 4 * 1024 * 1024;
/** What a row weighs beside its name, its modules and the announced texts: member names, ids and times. */
const ROW_BYTES = 640;

/** An executor as far as its tag needs it. */
export interface DiscoveryTagRow {
  readonly id: string;
  readonly kind: DiscoveryKind;
  readonly display_name: string;
  readonly status: string;
  readonly assignment_scope: string;
  readonly modules: readonly string[];
  readonly machine: string;
  readonly last_seen_at: Date | null;
  readonly connected_at: Date | null;
  /** Null when it never announced. */
  readonly announced_at: Date | null;
  readonly version: string | null;
  /** How long it stays credential-ready if nothing happens; null without an end. */
  readonly ready_ms: number | null;
  /** False for a row that is only read to know that there is more. */
  readonly on_page: boolean;
}

/** The row with what it serves; the texts are null when it never announced. */
export interface DiscoveryRow extends DiscoveryTagRow {
  readonly served_tools: string | null;
  readonly environment: string | null;
  readonly served_documents: string | null;
}

type PageParams = [
  accountId: AccountId,
  memberId: string,
  kinds: readonly DiscoveryKind[],
  limit: number,
  after: string,
  words: readonly string[],
];

const readyMs = `(
  select case when bool_and(c.expires_at is not null)
    then extract(epoch from max(c.expires_at) - now())::float8 * 1000 end
  from credentials c
  where c.executor_id = e.id and c.credential_epoch = e.credential_epoch
    and c.revoked_at is null and (c.expires_at is null or c.expires_at > now()))`;

const columns = `e.id, e.kind, e.display_name, e.status, e.assignment_scope, e.modules, e.machine,
  e.last_seen_at, e.connected_at, a.announced_at, a.version, ${readyMs} as ready_ms`;

const source = `members m
  join executors e on e.account_id = m.account_id
  left join announcements a on a.executor_id = e.id`;

/**
 * One row more than the limit, so that `next_after` is known. The sum runs over the stored lengths: the texts of rows
 * behind the page's end are never read, and with `texts` empty none are.
 */
const page = (bytes: 'whole_bytes' | 'summary_bytes', texts: string): string => `
  with listed as materialized (
    select ${columns},
      ${ROW_BYTES} + octet_length(to_json(e.display_name)::text) + octet_length(to_json(e.modules)::text)
        + coalesce(a.${bytes}, 0) as bytes
    from ${source}
    where m.account_id = $1 and m.id = $2 and e.kind = any ($3) and e.id > $5
      and ${eligible('e', 'm')}
      and not exists (
        select from unnest($6::text[]) word
        where strpos(lower(e.display_name), word) = 0 and strpos(coalesce(a.search_text, ''), word) = 0)
    order by e.id
    limit $4 + 1
  ), measured as (
    select *, row_number() over in_order as position, sum(bytes) over in_order as bytes_so_far from listed
    window in_order as (order by id rows unbounded preceding)
  ), cut as (
    select *, position <= $4 and (position = 1 or bytes_so_far <= ${PAGE_BYTES}) as on_page from measured
  )
  select cut.*${texts}
  from cut left join announcements a on a.executor_id = cut.id and cut.on_page
  order by cut.id`;

const wholeTexts = `, a.tools::text as served_tools, a.environment::text as environment,
  a.documents::text as served_documents`;
const summaryTexts = `, a.tools_summary::text as served_tools, a.environment::text as environment,
  a.documents::text as served_documents`;

/** A page with its texts, in each view. */
export const readPage = {
  whole: statement<PageParams, DiscoveryRow>('discovery_page_whole', page('whole_bytes', wholeTexts)),
  summary: statement<PageParams, DiscoveryRow>('discovery_page_summary', page('summary_bytes', summaryTexts)),
};

/** The same page without its texts: enough for its tag. */
export const readPageTag = {
  whole: statement<PageParams, DiscoveryTagRow>('discovery_page_whole_tag', page('whole_bytes', '')),
  summary: statement<PageParams, DiscoveryTagRow>('discovery_page_summary_tag', page('summary_bytes', '')),
};

type RowParams = [
  accountId: AccountId,
  memberId: string,
  kinds: readonly DiscoveryKind[],
  executorId: string,
];

const one = (texts: string): string => `
  select ${columns}, true as on_page${texts} from ${source}
  where m.account_id = $1 and m.id = $2 and e.kind = any ($3) and e.id = $4 and ${eligible('e', 'm')}`;

/** One executor, whole. */
export const readOne = statement<RowParams, DiscoveryRow>('discovery_one', one(wholeTexts));

export const readOneTag = statement<RowParams, DiscoveryTagRow>('discovery_one_tag', one(''));
