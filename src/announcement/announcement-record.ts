import type { AccountId } from '../db/account-id.js';
import { JsonText } from '../db/json-text.js';
import type { EffectProfile } from '../kernel/effect-profile.js';
import { elementTexts, memberTexts } from '../kernel/json/scan.js';

/** One entry of an announcement, parsed once. Its `…Text` members are the JSON texts as they were sent. */
export interface ServedTool {
  readonly name: string;
  readonly effectProfile: EffectProfile;
  readonly effectProfileText: string;
  readonly timeoutMs?: number;
  readonly description?: string;
  readonly descriptionText?: string;
  readonly inputSchemaText?: string;
  /** Has both description and schema; anything less is an operator capability (chapter 2). */
  readonly modelVisible: boolean;
  readonly module?: string;
}

/** What an executor serves, at one version. */
export interface AnnouncementRecord {
  readonly executorId: string;
  readonly accountId: AccountId;
  readonly version: number;
  /** By served name, in the order they were announced. */
  readonly tools: ReadonlyMap<string, ServedTool>;
  readonly environment: JsonText;
  readonly documents: readonly { readonly name: string; readonly description: string }[];
  readonly documentsText: JsonText;
  readonly delivery: 'claim' | 'serve';
  readonly maxInFlight: number;
  /** The id that it goes by on the bus beside its public id; null where it announced by another than its INFO document. */
  readonly instanceId: string | null;
  readonly announcedAt: Date;
}

/** A stored announcement; `bigint` columns arrive as text. */
export interface AnnouncementRow {
  readonly executor_id: string;
  readonly account_id: AccountId;
  readonly version: string;
  readonly tools: string;
  readonly environment: string;
  readonly documents: string;
  readonly delivery: 'claim' | 'serve';
  readonly max_in_flight: number;
  readonly instance_id: string | null;
  readonly announced_at: Date;
}

/** Parses what the grammar admitted when it was stored: nothing is checked again. */
export function readAnnouncement(row: AnnouncementRow): AnnouncementRecord {
  const tools = elementTexts(row.tools).map(readTool);
  return {
    executorId: row.executor_id,
    accountId: row.account_id,
    version: Number(row.version),
    tools: new Map(tools.map((tool) => [tool.name, tool])),
    environment: new JsonText(row.environment),
    documents: JSON.parse(row.documents) as { name: string; description: string }[],
    documentsText: new JsonText(row.documents),
    delivery: row.delivery,
    maxInFlight: row.max_in_flight,
    instanceId: row.instance_id,
    announcedAt: row.announced_at,
  };
}

function readTool(entry: string): ServedTool {
  const texts = memberTexts(entry);
  const parsed = <T>(key: string): T | undefined => {
    const text = texts.get(key);
    return text === undefined ? undefined : (JSON.parse(text) as T);
  };
  const timeoutMs = parsed<number>('timeout_ms');
  const description = parsed<string>('description');
  const descriptionText = texts.get('description');
  const inputSchemaText = texts.get('input_schema');
  const module = parsed<string>('module');
  return {
    name: parsed<string>('name') ?? '',
    effectProfile: parsed<EffectProfile>('effect_profile') as EffectProfile,
    effectProfileText: texts.get('effect_profile') ?? '',
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(description === undefined ? {} : { description }),
    ...(descriptionText === undefined ? {} : { descriptionText }),
    ...(inputSchemaText === undefined ? {} : { inputSchemaText }),
    modelVisible: description !== undefined && inputSchemaText !== undefined,
    ...(module === undefined ? {} : { module }),
  };
}
