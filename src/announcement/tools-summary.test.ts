import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseAnnouncement } from './announcement-grammar.js';
import { searchText, toolsSummary } from './tools-summary.js';

const PROFILE =
  '{"kind":"read_only","destructive":false,"effect_scope":"closed","idempotency":"intrinsic","reconciliation":"none"}';

const announced = (tools: string) =>
  parseAnnouncement(`{"tools":${tools}}`, { modules: ['tools'], toolPrefix: 'nexus.v1.tool.E.1' }).tools;

describe('the summary of a tool list', () => {
  it('keeps name, effect profile, timeout and description as they were sent, whatever their order', () => {
    const tools = `[{"vendor":{"b":1,"a":2},"timeout_ms":1e3,"description":"\\u00e9 é","name":"bash","effect_profile": ${PROFILE}}]`;
    expect(toolsSummary(announced(tools))).toBe(
      `[{"name":"bash","effect_profile":${PROFILE},"timeout_ms":1e3,"description":"\\u00e9 é"}]`,
    );
  });

  it('gives the schema as the SHA-256 of its text', () => {
    const schema = '{ "type":"object",  "maxProperties": 1.0 }';
    const tools = `[{"name":"a","effect_profile":${PROFILE},"description":"d","input_schema":${schema}}]`;
    const [summary] = JSON.parse(toolsSummary(announced(tools))) as Record<string, unknown>[];
    expect(summary).toEqual({
      name: 'a',
      effect_profile: JSON.parse(PROFILE) as unknown,
      description: 'd',
      input_schema_sha256: createHash('sha256').update(schema).digest('hex'),
    });
  });

  it('of no tools is an empty list', () => {
    expect(toolsSummary([])).toBe('[]');
  });

  it('is JSON with one entry for each tool, for any names and descriptions', () => {
    const entry = fc.record({
      name: fc.stringMatching(/^t[a-z]{1,20}$/),
      description: fc
        .string({ minLength: 1, unit: 'grapheme' })
        .filter((text) => text.trim() !== '' && !text.includes('\0')),
    });
    const entries = fc.uniqueArray(entry, { selector: ({ name }) => name, maxLength: 8 });
    fc.assert(
      fc.property(entries, (list) => {
        const tools = list.map(({ name, description }) => ({
          name,
          effect_profile: JSON.parse(PROFILE) as unknown,
          description,
        }));
        expect(JSON.parse(toolsSummary(announced(JSON.stringify(tools))))).toEqual(tools);
      }),
    );
  });
});

describe('what q looks through', () => {
  it('is the names and descriptions in lower case, and nothing of the schemas', () => {
    const tools = `[{"name":"Bash","effect_profile":${PROFILE},"description":"Runs ÄNY shell","input_schema":{"type":"object","title":"hidden"}},
      {"name":"files_bytes","effect_profile":${PROFILE}}]`;
    expect(searchText(announced(tools))).toBe('bash\nruns äny shell\nfiles_bytes');
  });
});
