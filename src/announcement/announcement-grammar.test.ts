import { describe, expect, it } from '@jest/globals';
import { Refusal } from '../errors/refusal.js';
import { type Announcement, parseAnnouncement } from './announcement-grammar.js';

const PROFILE = {
  kind: 'read_only',
  destructive: false,
  effect_scope: 'closed',
  idempotency: 'intrinsic',
  reconciliation: 'none',
};
const EXECUTOR = { modules: ['tools', 'files'], toolPrefix: 'nexus.v1.tool.E.1' };
const tool = (fields: object = {}): object => ({ name: 'bash', effect_profile: PROFILE, ...fields });
const document = (fields: object = {}): object => ({ name: 'a', description: 'd', ...fields });
const kib = (count: number): string => 'x'.repeat(count * 1024);

const textOf = (body: unknown): string => (typeof body === 'string' ? body : JSON.stringify(body));
const read = (body: unknown): Announcement => parseAnnouncement(textOf(body), EXECUTOR);

function refusalOf(body: unknown): Refusal {
  try {
    read(body);
  } catch (refusal) {
    if (refusal instanceof Refusal) return refusal;
    throw refusal;
  }
  throw new Error('It was admitted');
}

describe('An announcement is admitted', () => {
  it('with no tools: it clears, and what is absent has its default', () => {
    expect(read({ tools: [] })).toEqual({
      tools: [],
      tools_text: '[]',
      environment_text: '{}',
      documents: [],
      documents_text: '[]',
      delivery: 'claim',
      max_in_flight: 16,
      instance_id: null,
    });
  });

  it('and kept to the byte, unknown keys, number spellings and white space included', () => {
    const schema = '{ "type":"object", "properties":{"b":{},"a":{"maximum":1.0,"__proto__":{}}} }';
    const profile = JSON.stringify(PROFILE);
    const entry = `{"vendor" : {"z":1,"a":2},"input_schema":${schema}, "timeout_ms":5e3,"description":"\\u00e9 é","module":"files","name":"b-1","effect_profile":${profile}}`;
    const plain = `{"effect_profile":${profile},"name":"plain"}`;
    const tools = `[ ${entry} ,\n${plain}]`;
    const environment = '{ "os":"linux", "cores" : 2.50, "1":1, "0":0 }';
    const documents = '[{"description":"d","extra":null,"name":"workspace-tools"}]';
    const body = ` {"documents":${documents},"max_in_flight":1024,"environment":${environment},"delivery":"serve","tools":${tools},"more":[]} `;
    expect(read(body)).toEqual({
      tools: [
        {
          name: 'b-1',
          effect_profile: PROFILE,
          timeout_ms: 5000,
          description: 'é é',
          input_schema_text: schema,
          model_visible: true,
          module: 'files',
          entry_text: entry,
        },
        { name: 'plain', effect_profile: PROFILE, model_visible: false, entry_text: plain },
      ],
      tools_text: tools,
      environment_text: environment,
      documents: [{ name: 'workspace-tools', description: 'd' }],
      documents_text: documents,
      delivery: 'serve',
      max_in_flight: 1024,
      instance_id: null,
    });
  });

  it.each<[string, object, boolean]>([
    ['both description and input_schema', { description: 'd', input_schema: { type: 'object' } }, true],
    ['a description alone', { description: 'd' }, false],
    ['an input_schema alone', { input_schema: { type: 'object' } }, false],
  ])('and a tool is model-visible or an operator capability: with %s', (_, fields, visible) => {
    expect(read({ tools: [tool(fields)] }).tools[0]?.model_visible).toBe(visible);
  });

  it.each<[string, unknown]>([
    ['a name of 128 characters', { tools: [tool({ name: 'x'.repeat(128) })] }],
    ['a memory tool, which is overridable', { tools: [tool({ name: 'memory_read' })] }],
    ['skill', { tools: [tool({ name: 'skill' })] }],
    [
      'ordinary words for names',
      { tools: ['status', 'send', 'wait', 'toString'].map((name) => tool({ name })) },
    ],
    [
      'the shortest and the longest timeout',
      { tools: [1, 3_600_000].map((ms) => tool({ name: `t${ms}`, timeout_ms: ms })) },
    ],
    ['documents without skill', { tools: [], documents: [document()] }],
    ['a document name of 64 characters', { tools: [], documents: [document({ name: 'x'.repeat(64) })] }],
    ['a description of 1024 bytes', { tools: [], documents: [document({ description: 'é'.repeat(512) })] }],
    ['one call in flight', { tools: [], max_in_flight: 1 }],
    ['__proto__ anywhere', '{"tools":[],"__proto__":{"tools":7},"environment":{"__proto__":{"a":1}}}'],
    ['nesting of 64', `{"tools":[],"environment":${'{"a":'.repeat(63)}1${'}'.repeat(63)}}`],
    ['escaped backslashes before u0000', '{"tools":[],"environment":{"a":"\\\\u0000"}}'],
    ['pairs of surrogates', '{"tools":[],"environment":{"a":"\\ud83d\\ude00😀"}}'],
  ])('with %s', (_, body) => {
    expect(() => read(body)).not.toThrow();
  });

  it('up to its bounds, and not a byte above', () => {
    const filled = (list: string, more: number): string => {
      const [open, close] =
        list === 'tools'
          ? [`[{"name":"a","effect_profile":${JSON.stringify(PROFILE)},"x":"`, '"}]']
          : ['{"x":"', '"}'];
      const bound = list === 'tools' ? 768 * 1024 : 64 * 1024;
      return `{"${list}":${open}${'x'.repeat(bound + more - open.length - close.length)}${close}${list === 'tools' ? '' : ',"tools":[]'}}`;
    };
    for (const list of ['tools', 'environment']) {
      expect(() => read(filled(list, 0))).not.toThrow();
      expect(refusalOf(filled(list, 1)).code).toBe('validation_failed');
    }
  });
});

/** Chapter 2, the refusals: body, message, and the code where it is not `invalid_announcement`. */
const REFUSALS: [body: unknown, message: string, code?: string][] = [
  [{}, 'tools is required', 'parameter_missing'],
  [{ environment: 7 }, 'tools is required', 'parameter_missing'],
  ['[]', 'the body must be a JSON object', 'invalid_json'],
  ['null', 'the body must be a JSON object', 'invalid_json'],
  ['{"tools":', 'the body is not JSON at character 9', 'invalid_json'],
  ['', 'the body is not JSON at character 0', 'invalid_json'],
  ['{"tools":[],"tools":[]}', 'tools is a duplicate key', 'invalid_json'],
  ['{"tools":[{"name":"a","\\u006eame":"b"}]}', 'tools[0].name is a duplicate key', 'invalid_json'],
  [`{"tools":${'['.repeat(10_000)}`, 'the body nests deeper than 64', 'invalid_json'],

  [{ tools: {} }, 'tools must be a list of entries'],
  [{ tools: null }, 'tools must be a list of entries'],
  [{ tools: [null] }, 'tools[0] must be an object'],
  [{ tools: [tool(), []] }, 'tools[1] must be an object'],
  [{ tools: [{}] }, 'tools[0].name must match ^[A-Za-z0-9_-]{1,128}$'],
  [{ tools: [tool({ name: 7 })] }, 'tools[0].name must match ^[A-Za-z0-9_-]{1,128}$'],
  [{ tools: [tool({ name: 'a.b' })] }, 'tools[0].name must match ^[A-Za-z0-9_-]{1,128}$'],
  [{ tools: [tool({ name: 'nexus.memory.read' })] }, 'tools[0].name must match ^[A-Za-z0-9_-]{1,128}$'],
  [{ tools: [tool(), tool()] }, 'tools[1].name repeats bash'],
  [
    { tools: [tool({ name: 'tool_search' })] },
    'tools[0].name names a reserved kernel namespace (nexus.tools)',
    'reserved_namespace',
  ],
  [
    { tools: [{ name: 'mesh_call' }] },
    'tools[0].name names a reserved kernel namespace (nexus.console)',
    'reserved_namespace',
  ],
  [
    { tools: [tool(), tool({ name: 'nexus.runners.list' })] },
    'tools[1].name names a reserved kernel namespace (nexus.runners)',
    'reserved_namespace',
  ],
  [{ tools: [{ name: 'bash' }] }, 'tools[0].effect_profile is required'],
  [
    { tools: [tool({ effect_profile: { ...PROFILE, cost: 1 } })] },
    'tools[0].effect_profile must carry exactly kind, destructive, effect_scope, idempotency, reconciliation',
  ],
  [
    { tools: [tool({ effect_profile: null })] },
    'tools[0].effect_profile must carry exactly kind, destructive, effect_scope, idempotency, reconciliation',
  ],
  [
    { tools: [tool({ effect_profile: { ...PROFILE, kind: 'x' } })] },
    'tools[0].effect_profile.kind must be one of pure, read_only, write',
  ],
  [{ tools: [tool({ timeout_ms: 0 })] }, 'tools[0].timeout_ms must be an integer from 1 to 3600000'],
  [{ tools: [tool({ timeout_ms: 1.5 })] }, 'tools[0].timeout_ms must be an integer from 1 to 3600000'],
  [{ tools: [tool({ timeout_ms: null })] }, 'tools[0].timeout_ms must be an integer from 1 to 3600000'],
  [{ tools: [tool({ description: ' \n' })] }, 'tools[0].description must be a non-empty string'],
  [{ tools: [tool({ description: null })] }, 'tools[0].description must be a non-empty string'],
  [{ tools: [tool({ input_schema: true })] }, 'tools[0].input_schema must be a JSON Schema object'],
  [{ tools: [tool({ input_schema: null })] }, 'tools[0].input_schema must be a JSON Schema object'],
  [
    { tools: [tool({ input_schema: {} })] },
    'tools[0].input_schema must be a JSON Schema object with type "object"',
  ],
  [
    { tools: [tool({ input_schema: { type: 'object', properties: 7 } })] },
    'tools[0].input_schema.properties must be object (JSON Schema 2020-12)',
  ],
  [{ tools: [tool({ module: 'others' })] }, 'tools[0].module must be one of tools, files'],
  [{ tools: [tool({ module: null })] }, 'tools[0].module must be one of tools, files'],
  [{ tools: [], environment: [] }, 'environment must be an object'],
  [{ tools: [], environment: null }, 'environment must be an object'],
  [{ tools: [], documents: null }, 'documents must be a list of entries'],
  [{ tools: [], documents: ['a'] }, 'documents[0] must be an object'],
  [
    { tools: [], documents: [{ description: 'd' }] },
    'documents[0].name must match ^[a-z0-9]+(-[a-z0-9]+)*$, with at most 64 characters',
  ],
  [
    { tools: [], documents: [document({ name: 'x'.repeat(65) })] },
    'documents[0].name must match ^[a-z0-9]+(-[a-z0-9]+)*$, with at most 64 characters',
  ],
  [{ tools: [], documents: [{ name: 'a' }] }, 'documents[0].description must be a non-empty string'],
  [
    { tools: [], documents: [document({ description: '' })] },
    'documents[0].description must be a non-empty string',
  ],
  [
    { tools: [], documents: [document({ description: 'é'.repeat(513) })] },
    'documents[0].description must have at most 1024 bytes',
  ],
  [{ tools: [], documents: [document(), document()] }, 'documents[1].name repeats a'],
  [{ tools: [], delivery: 'push' }, 'delivery must be one of claim, serve'],
  [{ tools: [], delivery: null }, 'delivery must be one of claim, serve'],
  [{ tools: [], max_in_flight: 0 }, 'max_in_flight must be an integer from 1 to 1024'],
  [{ tools: [], max_in_flight: 1025 }, 'max_in_flight must be an integer from 1 to 1024'],
  [{ tools: [], max_in_flight: '1' }, 'max_in_flight must be an integer from 1 to 1024'],

  [{ tools: [tool({ description: 'a\0' })] }, 'tools[0].description holds a NUL or a lone surrogate'],
  [{ tools: [tool({ vendor: [{ x: '\ud800' }] })] }, 'tools[0].vendor[0].x holds a NUL or a lone surrogate'],
  [
    { tools: [], environment: { a: { '\0': 1 } } },
    'environment.a["\\u0000"] holds a NUL or a lone surrogate',
  ],
  [{ tools: [], more: '\udc00' }, 'more holds a NUL or a lone surrogate'],
  [
    { tools: [], documents: [document({ description: '\0' })] },
    'documents[0].description holds a NUL or a lone surrogate',
  ],

  [
    { tools: [tool({ notes: kib(768) })] },
    'tools has 786592 bytes as JSON; its bound is 786432',
    'validation_failed',
  ],
  [
    { tools: [], environment: { a: kib(64) } },
    'environment has 65544 bytes as JSON; its bound is 65536',
    'validation_failed',
  ],
  [
    { tools: [], documents: [document({ a: kib(64) })] },
    'documents has 65575 bytes as JSON; its bound is 65536',
    'validation_failed',
  ],
];

describe('An announcement is refused', () => {
  it.each(REFUSALS.map(([body, message, code = 'invalid_announcement']) => [code, message, body] as const))(
    '%s: %s',
    (code, message, body) => {
      const refusal = refusalOf(body);
      expect({ code: refusal.code, message: refusal.message }).toEqual({ code, message });
    },
  );

  it('for the first fault in document order, with all of them in the details', () => {
    const refusal = refusalOf({
      documents: [{ name: 'A', description: 'd' }],
      tools: [
        tool({ description: '' }),
        { effect_profile: PROFILE, timeout_ms: 0 },
        tool({ name: 'tool_call' }),
      ],
      environment: [],
    });
    expect(refusal.code).toBe('invalid_announcement');
    expect(refusal.details).toEqual([
      { path: 'documents[0].name', message: refusal.message },
      { path: 'tools[0].description', message: 'tools[0].description must be a non-empty string' },
      { path: 'tools[1].timeout_ms', message: 'tools[1].timeout_ms must be an integer from 1 to 3600000' },
      { path: 'tools[1].name', message: 'tools[1].name must match ^[A-Za-z0-9_-]{1,128}$' },
      { path: 'tools[2].name', message: 'tools[2].name names a reserved kernel namespace (nexus.tools)' },
      { path: 'environment', message: 'environment must be an object' },
    ]);
  });

  it('with the code of that first fault', () => {
    const reserved = tool({ name: 'tool_call' });
    const blank = tool({ description: '' });
    expect(refusalOf({ tools: [reserved, blank] }).code).toBe('reserved_namespace');
    expect(refusalOf({ tools: [blank, reserved] }).code).toBe('invalid_announcement');
    expect(refusalOf({ tools: [reserved], environment: { a: kib(64) } }).code).toBe('reserved_namespace');
  });

  it('with at most 20 faults in the details', () => {
    const refusal = refusalOf({ tools: Array.from({ length: 30 }, () => 7), environment: [] });
    expect(refusal.details).toHaveLength(20);
    expect(refusal.message).toBe('tools[0] must be an object');
  });

  it('for every list above its bound', () => {
    const refusal = refusalOf({
      tools: [],
      environment: { a: kib(64) },
      documents: [document({ a: kib(64) })],
    });
    expect(refusal.details).toMatchObject([{ path: 'environment' }, { path: 'documents' }]);
  });

  it('with the path of a duplicate key in the details too', () => {
    expect(refusalOf('{"tools":[{"a":{"b":1,"b":2}}]}').details).toEqual([
      { path: 'tools[0].a.b', message: 'tools[0].a.b is a duplicate key' },
    ]);
  });
});

it('500 tools are read at once: no schema is compiled', () => {
  const properties = Object.fromEntries(
    Array.from({ length: 8 }, (_, index) => [
      `p${index}`,
      { type: 'string', description: 'what it is', enum: ['a', 'b'] },
    ]),
  );
  const input_schema = { type: 'object', properties, required: ['p0', 'p1'], additionalProperties: false };
  const body = textOf({
    tools: Array.from({ length: 500 }, (_, index) =>
      tool({ name: `t${index}`, description: 'does it', input_schema }),
    ),
  });
  const started = performance.now();
  expect(read(body).tools).toHaveLength(500);
  expect(performance.now() - started).toBeLessThan(1_000);
});
