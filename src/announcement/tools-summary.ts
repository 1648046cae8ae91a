import { createHash } from 'node:crypto';
import { memberTexts } from '../kernel/json/scan.js';
import type { AnnouncedTool } from './announcement-grammar.js';

/** What a summary keeps of an entry, in this order and verbatim (chapter 3). */
const KEPT = ['name', 'effect_profile', 'timeout_ms', 'description'] as const;

/**
 * The JSON text of `served_tools` in `view=summary`: of each entry the kept members as they were sent, and the SHA-256 of
 * the schema's text, in hexadecimal.
 */
export function toolsSummary(tools: readonly AnnouncedTool[]): string {
  return `[${tools.map(summaryOf).join(',')}]`;
}

function summaryOf(tool: AnnouncedTool): string {
  const texts = memberTexts(tool.entry_text);
  const members = KEPT.flatMap((key) => {
    const text = texts.get(key);
    return text === undefined ? [] : [`"${key}":${text}`];
  });
  const schema = texts.get('input_schema');
  if (schema !== undefined)
    members.push(`"input_schema_sha256":"${createHash('sha256').update(schema).digest('hex')}"`);
  return `{${members.join(',')}}`;
}

/** What discovery's `q` looks through, beside the display name: names and descriptions of the tools, in lower case. */
export function searchText(tools: readonly AnnouncedTool[]): string {
  return tools
    .flatMap(({ name, description }) => (description === undefined ? [name] : [name, description]))
    .join('\n')
    .toLowerCase();
}
