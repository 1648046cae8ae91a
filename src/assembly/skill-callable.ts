import type { AnnouncementRecord, ServedTool } from '../announcement/announcement-directory.js';
import { SKILL } from '../announcement/for-models.js';

type Document = AnnouncementRecord['documents'][number];

/** Whether a runner contributes a skill callable: it announces `skill` and documents to load with it (chapter 4). */
export function contributesSkill(announcement: AnnouncementRecord): boolean {
  return announcement.tools.has(SKILL) && announcement.documents.length > 0;
}

/** `function.description` of a runner's skill callable, as JSON text: the runner's own, else one that lists the documents. */
export function skillDescriptionText(skill: ServedTool | undefined, documents: readonly Document[]): string {
  return (
    skill?.descriptionText ??
    JSON.stringify(withCatalogue('Loads a document of this runner by its name.', documents))
  );
}

/** `function.parameters` of a runner's skill callable, as JSON text: the runner's own, else one that names the documents. */
export function skillParametersText(skill: ServedTool | undefined, documents: readonly Document[]): string {
  return (
    skill?.inputSchemaText ??
    JSON.stringify({
      type: 'object',
      properties: { name: { type: 'string', enum: documents.map(({ name }) => name) } },
      required: ['name'],
      additionalProperties: false,
    })
  );
}

/** A description that ends with the catalogue of documents; one that holds it already stays as it is. */
export function withCatalogue(description: string, documents: readonly Document[]): string {
  const catalogue = [
    'Documents:',
    ...documents.map(({ name, description: what }) => `- ${name}: ${what}`),
  ].join('\n');
  return description.includes(catalogue) ? description : `${description}\n\n${catalogue}`;
}
