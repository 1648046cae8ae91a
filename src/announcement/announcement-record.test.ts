import { describe, expect, it } from '@jest/globals';
import type { AccountId } from '../db/account-id.js';
import { type AnnouncementRow, readAnnouncement } from './announcement-record.js';

const PROFILE =
  '{ "kind":"write", "destructive":true, "effect_scope":"open", "idempotency":"none", "reconciliation":"none" }';

const row = (tools: string, fields: Partial<AnnouncementRow> = {}): AnnouncementRow => ({
  executor_id: '01990000-0000-7000-8000-000000000001',
  account_id: '01990000-0000-7000-8000-000000000002' as AccountId,
  version: '7',
  tools,
  environment: '{ "os":"linux", "cores":2.0 }',
  documents: '[{"name":"a","description":"b"}]',
  delivery: 'claim',
  max_in_flight: 16,
  instance_id: null,
  announced_at: new Date(0),
  ...fields,
});

describe('a stored announcement', () => {
  it('is read into tools by served name, with the texts as they were sent', () => {
    const schema = '{"type":"object", "z":1, "a":1.50}';
    const tools = `[{"input_schema":${schema},"name":"bash","effect_profile":${PROFILE},"description":"a\\/b","timeout_ms":5e3,"module":"files"}]`;
    expect([...readAnnouncement(row(tools)).tools.values()]).toEqual([
      {
        name: 'bash',
        effectProfile: JSON.parse(PROFILE) as unknown,
        effectProfileText: PROFILE,
        timeoutMs: 5000,
        description: 'a/b',
        descriptionText: '"a\\/b"',
        inputSchemaText: schema,
        modelVisible: true,
        module: 'files',
      },
    ]);
  });

  it.each([
    ['both description and input_schema', ',"description":"d","input_schema":{"type":"object"}', true],
    ['a description alone', ',"description":"d"', false],
    ['an input_schema alone', ',"input_schema":{"type":"object"}', false],
    ['neither', '', false],
  ])('is model-visible or an operator capability: a tool with %s', (_, members, visible) => {
    const record = readAnnouncement(row(`[{"name":"t","effect_profile":${PROFILE}${members}}]`));
    expect(record.tools.get('t')?.modelVisible).toBe(visible);
  });

  it('keeps the order of the list, and environment and documents verbatim', () => {
    const entry = (name: string): string => `{"name":"${name}","effect_profile":${PROFILE}}`;
    const record = readAnnouncement(row(`[${entry('z')},${entry('a')},${entry('__proto__')}]`));
    expect([...record.tools.keys()]).toEqual(['z', 'a', '__proto__']);
    expect(record).toMatchObject({
      version: 7,
      documents: [{ name: 'a', description: 'b' }],
      maxInFlight: 16,
    });
    expect(record.environment.text).toBe('{ "os":"linux", "cores":2.0 }');
    expect(record.documentsText.text).toBe('[{"name":"a","description":"b"}]');
  });

  it('with no tools serves nothing', () => {
    expect(readAnnouncement(row('[]')).tools.size).toBe(0);
  });
});
