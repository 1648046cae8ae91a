import { describe, expect, it } from '@jest/globals';
import { Refusal } from '../errors/refusal.js';
import { type Announcement, parseAnnouncement } from './announcement-grammar.js';

const PREFIX = 'nexus.v1.tool.01990000-0000-7000-8000-000000000001.3';
const PROFILE =
  '{"kind":"read_only","destructive":false,"effect_scope":"closed","idempotency":"intrinsic","reconciliation":"none"}';
const WORST = {
  kind: 'write',
  destructive: true,
  effect_scope: 'open',
  idempotency: 'none',
  reconciliation: 'none',
};

const endpoint = (name: string, metadata: unknown = {}, fields: object = {}): object => ({
  name,
  subject: `${PREFIX}.${name}`,
  queue_group: 'q',
  metadata,
  ...fields,
});
const info = (endpoints: unknown, fields: object = {}): object => ({
  type: 'io.nats.micro.v1.info_response',
  name: 'tools',
  id: 'SP2LJ0ZDTU2T3ZT1L0VW7Z',
  version: '1.0.0',
  description: 'Greets',
  metadata: {},
  endpoints,
  ...fields,
});
const read = (body: unknown): Announcement =>
  parseAnnouncement(typeof body === 'string' ? body : JSON.stringify(body), {
    modules: ['tools', 'files'],
    toolPrefix: PREFIX,
  });

function refusalOf(body: unknown): Refusal {
  try {
    read(body);
  } catch (refusal) {
    if (refusal instanceof Refusal) return refusal;
    throw refusal;
  }
  throw new Error('It was admitted');
}

describe('An INFO document is read as an announcement with delivery serve', () => {
  it('whose tools are the endpoints, named by the last token of their subjects', () => {
    const schema = '{ "type":"object", "properties":{"b":{},"a":{"maximum":1.0}} }';
    const greet = endpoint('hello', {
      timeout_ms: '5000',
      input_schema: schema,
      effect_profile: PROFILE,
      description: 'Greets "somebody"',
      team: 'unknown metadata is passed over',
    });
    expect(read(info([{ ...greet, name: 'Endpoint-1' }]))).toEqual({
      tools: [
        {
          name: 'hello',
          effect_profile: JSON.parse(PROFILE) as object,
          timeout_ms: 5000,
          description: 'Greets "somebody"',
          input_schema_text: schema,
          model_visible: true,
          module: 'tools',
          entry_text: `{"name":"hello","timeout_ms":5000,"input_schema":${schema},"effect_profile":${PROFILE},"description":"Greets \\"somebody\\"","module":"tools"}`,
        },
      ],
      tools_text: expect.stringContaining(schema),
      environment_text: '{}',
      documents: [],
      documents_text: '[]',
      delivery: 'serve',
      max_in_flight: 16,
      instance_id: 'SP2LJ0ZDTU2T3ZT1L0VW7Z',
    });
  });

  it('an endpoint without an effect profile has the worst, and one without schema is an operator capability', () => {
    const [tool] = read(info([endpoint('wipe', null)])).tools;
    expect(tool).toMatchObject({ name: 'wipe', effect_profile: WORST, model_visible: false });
  });

  it('environment and documents are JSON texts in the metadata of the service, kept to the byte', () => {
    const metadata = {
      environment: '{ "os":"linux", "cores": 2.50 }',
      documents: '[{"description":"d","name":"workspace-tools"}]',
    };
    expect(read(info([endpoint('skill')], { metadata }))).toMatchObject({
      environment_text: metadata.environment,
      documents_text: metadata.documents,
      documents: [{ name: 'workspace-tools', description: 'd' }],
    });
  });

  it('of the module that the service is named for, where the executor has it', () => {
    expect(read(info([endpoint('a')], { name: 'files' })).tools[0]?.module).toBe('files');
    expect(read(info([endpoint('a')], { name: 'greeter' })).tools[0]?.module).toBeUndefined();
  });

  it('and with no endpoints it clears', () => {
    expect(read(info([], { metadata: null }))).toMatchObject({ tools: [], delivery: 'serve' });
  });
});

const deep = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;

describe('An INFO document is refused with the path of what is wrong', () => {
  it.each<[string, object, string]>([
    [
      'a subject elsewhere',
      info([endpoint('a'), endpoint('b'), endpoint('c', {}, { subject: 'greet' })]),
      `endpoints[2].subject must be one token under ${PREFIX}`,
    ],
    [
      'a subject of another epoch',
      info([endpoint('a', {}, { subject: `${PREFIX.slice(0, -1)}4.a` })]),
      `endpoints[0].subject must be one token under ${PREFIX}`,
    ],
    [
      'a subject further below',
      info([endpoint('a', {}, { subject: `${PREFIX}.group.a` })]),
      'endpoints[0].subject must be one token under',
    ],
    ['a wildcard', info([endpoint('*')]), 'endpoints[0].subject must match ^[A-Za-z0-9_-]{1,128}$'],
    ['no subject', info([{ name: 'a' }]), 'endpoints[0].subject must be one token under'],
    ['a repeated tool', info([endpoint('a'), endpoint('a')]), 'endpoints[1].subject repeats a'],
    ['an endpoint that is none', info([7]), 'endpoints[0] must be an object'],
    ['no endpoints', info(null), 'endpoints must be a list of entries'],
    ['metadata that is none', info([endpoint('a', [])]), 'endpoints[0].metadata must be an object'],
    [
      'metadata that is no text',
      info([endpoint('a', { timeout_ms: 5 })]),
      'endpoints[0].metadata.timeout_ms must be a string',
    ],
    [
      'a schema that does not parse',
      info([endpoint('a', { input_schema: '{"type":' })]),
      'endpoints[0].metadata.input_schema is not JSON',
    ],
    [
      'a schema that would end its entry',
      info([endpoint('a', { input_schema: '{"type":"object"}}, {"name":"b"' })]),
      'endpoints[0].metadata.input_schema is not JSON',
    ],
    [
      'a schema with a key twice',
      info([endpoint('a', { input_schema: '{"type":"object","type":"array"}' })]),
      'endpoints[0].metadata.input_schema has a duplicate key: type',
    ],
    [
      'a schema that nests too deep',
      info([endpoint('a', { input_schema: deep(65) })]),
      'endpoints[0].metadata.input_schema nests deeper than 64',
    ],
    [
      'a schema that nests too deep in an entry',
      info([endpoint('a', { input_schema: deep(63) })]),
      'endpoints[0].metadata nests deeper than 64',
    ],
    [
      'a schema that is none',
      info([endpoint('a', { input_schema: 'null' })]),
      'endpoints[0].metadata.input_schema must be a JSON Schema object',
    ],
    [
      'a NUL that hides in a text',
      info([endpoint('a', { input_schema: '{"type":"object","title":"\\u0000"}' })]),
      'endpoints[0].metadata.input_schema.title holds a NUL or a lone surrogate',
    ],
    [
      'a timeout in words',
      info([endpoint('a', { timeout_ms: '5s' })]),
      'endpoints[0].metadata.timeout_ms must be an integer from 1 to 3600000',
    ],
    [
      'a blank description',
      info([endpoint('a', { description: ' ' })]),
      'endpoints[0].metadata.description must be a non-empty string',
    ],
    [
      'a profile that says too little',
      info([endpoint('a', { effect_profile: '{"kind":"pure"}' })]),
      'endpoints[0].metadata.effect_profile must carry exactly',
    ],
    [
      'an environment that is no object',
      info([], { metadata: { environment: '[]' } }),
      'metadata.environment must be an object',
    ],
    [
      'an environment that does not parse',
      info([], { metadata: { environment: 'linux' } }),
      'metadata.environment is not JSON',
    ],
    [
      'a document without description',
      info([], { metadata: { documents: '[{"name":"a"}]' } }),
      'metadata.documents[0].description must be a non-empty string',
    ],
    ['an id that is no token', info([], { id: 'a.b' }), 'id must match ^[A-Za-z0-9_-]{1,128}$'],
    ['no id', info([], { id: undefined }), 'id must match'],
  ])('%s', (_, body, message) => {
    const refusal = refusalOf(body);
    expect(refusal).toMatchObject({ code: 'invalid_announcement', status: 422 });
    expect(refusal.message.slice(0, message.length)).toBe(message);
    expect(refusal.details).toEqual([{ path: message.split(' ')[0], message: refusal.message }]);
  });

  it('a name that the kernel keeps for itself', () => {
    const refusal = refusalOf(info([endpoint('tool_search')]));
    expect(refusal).toMatchObject({
      code: 'reserved_namespace',
      message: 'endpoints[0].subject names a reserved kernel namespace (nexus.tools)',
    });
  });

  it('more than a bound takes', () => {
    const wide = JSON.stringify({ type: 'object', title: 'x'.repeat(60_000) });
    const endpoints = Array.from({ length: 14 }, (_, index) => endpoint(`t${index}`, { input_schema: wide }));
    const refusal = refusalOf(info(endpoints));
    expect(refusal).toMatchObject({ code: 'validation_failed' });
    expect(refusal.message).toMatch(/^endpoints has \d+ bytes as JSON; its bound is 786432$/);
  });

  it('all faults, at most 20, in the order of the document', () => {
    const faulty = [
      endpoint('a', { timeout_ms: '0', effect_profile: 'x' }, { subject: 'elsewhere' }),
      endpoint('b', { description: '', input_schema: '{}' }),
      ...Array.from({ length: 30 }, () => ({})),
    ];
    const details = refusalOf(info(faulty, { id: 7 })).details as { path: string }[];
    expect(details.map(({ path }) => path).slice(0, 6)).toEqual([
      'id',
      'endpoints[0].subject',
      'endpoints[0].metadata.effect_profile',
      'endpoints[1].metadata.description',
      'endpoints[1].metadata.input_schema',
      'endpoints[2].subject',
    ]);
    expect(details).toHaveLength(20);
  });
});
