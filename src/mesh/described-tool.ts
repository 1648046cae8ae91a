import type { AnnouncementRecord } from '../announcement/announcement-directory.js';
import { isForModels } from '../announcement/for-models.js';
import { JsonText } from '../db/json-text.js';
import { poolTool } from '../routing/pool-tool.js';

/** What is said of a tool, each text as it was announced. */
export interface DescribedTool {
  readonly name: string;
  readonly description?: JsonText | undefined;
  readonly input_schema?: JsonText | undefined;
  readonly effect_profile: JsonText;
  readonly timeout_ms?: number | undefined;
  readonly interchangeable: boolean;
}

/**
 * The tool of this name, of what one executor announced or of what all providers of a pool did: its effects are then the
 * worst of theirs, its description and schema those of the first. Undefined where nobody serves it, or nobody but people may
 * call it and an agent asks.
 */
export function describedTool(
  name: string,
  announcements: readonly AnnouncementRecord[],
  isPool: boolean,
  viewer: 'human' | 'agent',
): DescribedTool | undefined {
  const pool = poolTool(announcements, name);
  const [announcement] = announcements;
  const tool = announcement?.tools.get(name);
  if (!pool || !announcement || !tool) return undefined;
  const isForPeople = isPool ? pool.isOperatorCapability : !isForModels(tool, announcement);
  if (isForPeople && viewer === 'agent') return undefined;
  return {
    name,
    description: textOf(tool.descriptionText),
    input_schema: textOf(tool.inputSchemaText),
    effect_profile: new JsonText(pool.profileText),
    timeout_ms: pool.announcedTimeoutMs,
    interchangeable: isPool,
  };
}

const textOf = (text: string | undefined): JsonText | undefined =>
  text === undefined ? undefined : new JsonText(text);
