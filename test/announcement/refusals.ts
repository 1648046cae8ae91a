import { READ_ONLY, tool } from '../support/factories.js';

/** One row of chapter 2's refusals: an announcement, what it is refused with, and how the message reads. */
export interface RefusalCase {
  readonly name: string;
  /** An object is sent as JSON, a string as it is. */
  readonly body: unknown;
  readonly status: 400 | 413 | 422;
  readonly code: string;
  /** The whole message, or what it must match where the chapter leaves the end open. */
  readonly message: string | RegExp;
}

const withoutKind = Object.fromEntries(Object.entries(READ_ONLY).filter(([key]) => key !== 'kind'));
const one = (fields: object): object => ({ tools: [tool('bash', fields)] });
const withoutProfile = { name: 'bash' };
/** Text of about this many bytes. */
const filler = (kib: number): string => 'x'.repeat(kib * 1024);

const invalid = (name: string, body: unknown, message: string | RegExp): RefusalCase => ({
  name,
  body,
  status: 422,
  code: 'invalid_announcement',
  message,
});
const reserved = (name: string, namespace: string): RefusalCase => ({
  name: `a tool named ${name}`,
  body: { tools: [tool(name)] },
  status: 422,
  code: 'reserved_namespace',
  message: `tools[0].name names a reserved kernel namespace (${namespace})`,
});
const unreadable = (name: string, body: string, message: RegExp): RefusalCase => ({
  name,
  body,
  status: 400,
  code: 'invalid_json',
  message,
});
const tooLarge = (list: string, body: object, bound: number): RefusalCase => ({
  name: `${list} above their bound`,
  body,
  status: 422,
  code: 'validation_failed',
  message: new RegExp(`^${list}\\b.*\\b(?:${bound}\\b|${bound / 1024} KiB)`),
});

/** Chapter 2, the table of refusals; both doors are asked each. */
export const REFUSALS: readonly RefusalCase[] = [
  { name: 'no tools key', body: {}, status: 400, code: 'parameter_missing', message: /^tools\b/ },
  unreadable('a body that does not parse', '{"tools":', /./),
  unreadable('a body that is no object', '[]', /./),
  unreadable('a key twice at the top', '{"tools":[],"tools":[]}', /tools/),
  unreadable(
    'a key twice deep inside, with its path',
    `{"tools":[{"name":"a","effect_profile":${JSON.stringify(READ_ONLY)},"input_schema":{"properties":{"b":1,"b":2}}}]}`,
    /tools\[0\]\.input_schema\.properties\.b/,
  ),
  unreadable('nesting of 10,000', `{"tools":${'['.repeat(10_000)}${']'.repeat(10_000)}}`, /64/),
  unreadable('nesting of 65', `{"tools":[],"environment":${'{"a":'.repeat(64)}1${'}'.repeat(64)}}`, /64/),

  reserved('tool_search', 'nexus.tools'),
  reserved('tool_call', 'nexus.tools'),
  reserved('runners_list', 'nexus.runners'),
  reserved('mesh_machines', 'nexus.console'),
  reserved('mesh_services', 'nexus.console'),
  reserved('mesh_tools', 'nexus.console'),
  reserved('mesh_describe', 'nexus.console'),
  reserved('mesh_call', 'nexus.console'),
  reserved('nexus.tools.search', 'nexus.tools'),
  reserved('nexus.anything.else', 'nexus.anything'),

  invalid('tools that are no list', { tools: {} }, 'tools must be a list of entries'),
  invalid('tools of null', { tools: null }, 'tools must be a list of entries'),
  invalid('an entry that is no object', { tools: [7] }, /^tools\[0\] must be an object/),
  invalid('an entry without a name', { tools: [{ effect_profile: READ_ONLY }] }, /^tools\[0\]\.name /),
  invalid('a name with a blank', { tools: [tool('a b')] }, /^tools\[0\]\.name must match /),
  invalid('a name of 129 characters', { tools: [tool('x'.repeat(129))] }, /^tools\[0\]\.name must match /),
  invalid('a name twice', { tools: [tool('bash'), tool('bash')] }, 'tools[1].name repeats bash'),
  invalid('no effect profile', { tools: [withoutProfile] }, 'tools[0].effect_profile is required'),
  invalid(
    'an effect profile without a key',
    one({ effect_profile: withoutKind }),
    /^tools\[0\]\.effect_profile must carry exactly /,
  ),
  invalid(
    'an effect profile with another key',
    one({ effect_profile: { ...READ_ONLY, cost: 1 } }),
    /^tools\[0\]\.effect_profile must carry exactly /,
  ),
  invalid(
    'an unknown kind',
    one({ effect_profile: { ...READ_ONLY, kind: 'harmless' } }),
    /^tools\[0\]\.effect_profile\.kind must be one of pure, read_only, write/,
  ),
  invalid(
    'an unknown effect scope',
    one({ effect_profile: { ...READ_ONLY, effect_scope: 'world' } }),
    /^tools\[0\]\.effect_profile\.effect_scope must be one of closed, open/,
  ),
  invalid(
    'an unknown idempotency',
    one({ effect_profile: { ...READ_ONLY, idempotency: true } }),
    /^tools\[0\]\.effect_profile\.idempotency must be one of intrinsic, keyed, none/,
  ),
  invalid(
    'an unknown reconciliation',
    one({ effect_profile: { ...READ_ONLY, reconciliation: 'ask' } }),
    /^tools\[0\]\.effect_profile\.reconciliation must be one of none, lookup/,
  ),
  invalid(
    'destructive as text',
    one({ effect_profile: { ...READ_ONLY, destructive: 'no' } }),
    /^tools\[0\]\.effect_profile\.destructive must be /,
  ),
  invalid(
    'a blank description',
    one({ description: ' \n' }),
    'tools[0].description must be a non-empty string',
  ),
  invalid(
    'a description of null',
    one({ description: null }),
    'tools[0].description must be a non-empty string',
  ),
  invalid(
    'a schema that is a list',
    one({ input_schema: [] }),
    'tools[0].input_schema must be a JSON Schema object',
  ),
  invalid(
    'a schema of null',
    one({ input_schema: null }),
    'tools[0].input_schema must be a JSON Schema object',
  ),
  invalid('a schema of another type', one({ input_schema: { type: 'string' } }), /^tools\[0\]\.input_schema/),
  invalid(
    'a schema that is no JSON Schema',
    one({ input_schema: { type: 'object', properties: 7 } }),
    /^tools\[0\]\.input_schema/,
  ),
  invalid(
    'a schema of an unknown draft',
    one({ input_schema: { type: 'object', $schema: 'http://json-schema.org/draft-04/schema#' } }),
    /^tools\[0\]\.input_schema/,
  ),
  invalid('a timeout of 0', one({ timeout_ms: 0 }), /^tools\[0\]\.timeout_ms must be /),
  invalid('a timeout above an hour', one({ timeout_ms: 3_600_001 }), /^tools\[0\]\.timeout_ms must be /),
  invalid('a timeout as text', one({ timeout_ms: '5' }), /^tools\[0\]\.timeout_ms must be /),
  invalid('a module of somebody else', one({ module: 'others' }), /^tools\[0\]\.module must be one of /),
  invalid('an environment that is a list', { tools: [], environment: [] }, 'environment must be an object'),
  invalid('an environment of null', { tools: [], environment: null }, 'environment must be an object'),
  invalid('documents that are no list', { tools: [], documents: {} }, 'documents must be a list of entries'),
  invalid('a document that is no object', { tools: [], documents: ['a'] }, 'documents[0] must be an object'),
  invalid(
    'a document name in capitals',
    { tools: [], documents: [{ name: 'Skills', description: 'd' }] },
    /^documents\[0\]\.name must match /,
  ),
  invalid(
    'a document without a description',
    { tools: [], documents: [{ name: 'a' }] },
    'documents[0].description must be a non-empty string',
  ),
  invalid(
    'a document twice',
    { tools: [], documents: [1, 2].map(() => ({ name: 'a', description: 'd' })) },
    'documents[1].name repeats a',
  ),
  invalid('an unknown delivery', { tools: [], delivery: 'push' }, /^delivery must be /),
  invalid('a max_in_flight of 0', { tools: [], max_in_flight: 0 }, /^max_in_flight must be /),
  invalid('a max_in_flight of 1025', { tools: [], max_in_flight: 1025 }, /^max_in_flight must be /),
  invalid(
    'a NUL in an unknown key',
    '{"tools":[],"environment":{"a":["b\\u0000"]}}',
    /^environment\.a\[0\] /,
  ),
  invalid('a lone surrogate', one({ description: '\ud800' }), /^tools\[0\]\.description /),

  tooLarge(
    'tools',
    { tools: [tool('a', { notes: filler(400) }), tool('b', { notes: filler(400) })] },
    768 * 1024,
  ),
  tooLarge('environment', { tools: [], environment: { notes: filler(64) } }, 64 * 1024),
  tooLarge(
    'documents',
    { tools: [], documents: [{ name: 'a', description: 'd', notes: filler(64) }] },
    64 * 1024,
  ),
  {
    name: 'a body above 1 MiB',
    body: { tools: [], environment: { notes: filler(1024) } },
    status: 413,
    code: 'content_too_large',
    message: /./,
  },
];
