import type { ExecutorCaller } from '../doors/caller.js';
import type { Announcement } from './announcement-grammar.js';
import type { AnnouncementRecord, ServedTool } from './announcement-record.js';

/** The served name by which a runner loads its documents (chapter 2: `nexus.skill.load`, announced by executors). */
export const SKILL = 'skill';

/** Whether an agent could be shown this tool: described, or the skill of documents that were announced (chapter 4). */
export function isForModels(
  { name, modelVisible }: Pick<ServedTool, 'name' | 'modelVisible'>,
  { documents }: Pick<AnnouncementRecord, 'documents'>,
): boolean {
  return modelVisible || (name === SKILL && documents.length > 0);
}

/**
 * The operator capabilities of an announcement (chapter 2), by name: what only people call. The claim looks a name up
 * here, whenever it was announced. Nobody is shown the documents of a tool provider, so that its skill is like any tool.
 */
export function operatorNames(
  { tools, documents }: Pick<Announcement, 'tools' | 'documents'>,
  kind: ExecutorCaller['kind'],
): string[] {
  const shown = { documents: kind === 'tool_provider' ? [] : documents };
  return tools
    .filter(({ name, model_visible: modelVisible }) => !isForModels({ name, modelVisible }, shown))
    .map(({ name }) => name);
}
