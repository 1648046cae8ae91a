import { describe, expect, it } from '@jest/globals';
import { inputSchemaFaults } from './json-schema-check.js';

const DRAFT_07 = 'http://json-schema.org/draft-07/schema#';
const DRAFT_2020_12 = 'https://json-schema.org/draft/2020-12/schema';
const messagesOf = (schema: unknown): string[] =>
  inputSchemaFaults(schema, 's').map(({ message }) => message);
const object = (fields: object): object => ({ type: 'object', ...fields });

describe('An input schema is admitted', () => {
  it.each<[string, object]>([
    ['of type object alone', object({})],
    ['that names draft 2020-12', object({ $schema: DRAFT_2020_12, prefixItems: [{}] })],
    ['that names draft-07', object({ $schema: DRAFT_07, items: [{}, true] })],
    ['that names draft-07 without a fragment', object({ $schema: 'http://json-schema.org/draft-07/schema' })],
    ['with keywords of its own', object({ 'x-order': 1, examples: [{ type: 7 }] })],
    [
      'with data that look like keywords',
      object({ default: { type: [1] }, enum: [{ type: 7 }], const: { items: 1 } }),
    ],
    [
      'with a property named type',
      object({ properties: { type: { type: 'string' }, $ref: { type: 'null' } } }),
    ],
    [
      'with references, which nobody follows',
      object({ $ref: 'http://127.0.0.1:1/other', properties: { a: { $ref: '#/nowhere' } } }),
    ],
    ['with a pattern, which nobody runs', object({ properties: { a: { pattern: '(a+)+$' } } })],
    ['with an $id that it shares with another', object({ $id: 'https://example.com/a' })],
    ['with the same $id again', object({ $id: 'https://example.com/a', title: 'other' })],
    ['with the $id of a meta-schema', object({ $id: DRAFT_2020_12 })],
  ])('%s', (_, schema) => {
    expect(messagesOf(schema)).toEqual([]);
  });
});

describe('An input schema is refused', () => {
  it.each<[string, unknown]>([
    ['s must be a JSON Schema object', undefined],
    ['s must be a JSON Schema object', null],
    ['s must be a JSON Schema object', [{ type: 'object' }]],
    ['s must be a JSON Schema object', 'object'],
    ['s must be a JSON Schema object with type "object"', {}],
    ['s must be a JSON Schema object with type "object"', { type: 'string' }],
    ['s must be a JSON Schema object with type "object"', { type: ['object'] }],
    [
      's.$schema must name JSON Schema draft 2020-12 or draft-07',
      object({ $schema: 'http://json-schema.org/draft-04/schema#' }),
    ],
    ['s.$schema must name JSON Schema draft 2020-12 or draft-07', object({ $schema: '' })],
    ['s.$schema must name JSON Schema draft 2020-12 or draft-07', object({ $schema: 7 })],
    ['s.properties must be object (JSON Schema 2020-12)', object({ properties: [] })],
    [
      's.properties.a.minimum must be number (JSON Schema 2020-12)',
      object({ properties: { a: { minimum: '1' } } }),
    ],
    [
      's.properties["a/b ~"].items must be object,boolean (JSON Schema 2020-12)',
      object({ properties: { 'a/b ~': { items: [] } } }),
    ],
    [
      's.anyOf[1].required[0] must be string (JSON Schema 2020-12)',
      object({ anyOf: [{}, { required: [1] }] }),
    ],
    [
      's.required must pass "uniqueItems" keyword validation (JSON Schema 2020-12)',
      object({ required: ['a', 'a'] }),
    ],
    ['s.minLength must be >= 0 (JSON Schema draft-07)', object({ $schema: DRAFT_07, minLength: -1 })],
  ])('%s', (message, schema) => {
    expect(messagesOf(schema)).toEqual([message]);
  });
});

it('A hostile schema takes time in proportion to its size', () => {
  const list = <T>(length: number, element: (index: number) => T): T[] =>
    Array.from({ length }, (_, index) => element(index));
  let nested: object = { type: 'none' };
  for (let depth = 0; depth < 28; depth += 1) nested = { dependencies: { a: nested }, items: nested };
  const hostile = [
    { properties: { a: { type: list(100_000, (index) => index) } } },
    { properties: { a: { type: list(80_000, () => 'string') } } },
    { required: list(80_000, (index) => `k${index}`) },
    { enum: list(80_000, (index) => ({ index })) },
    { allOf: list(80_000, () => ({})) },
    { $anchor: `${'a'.repeat(700_000)}!` },
    nested,
  ];
  const started = performance.now();
  for (const fields of hostile)
    for (const $schema of [DRAFT_07, DRAFT_2020_12]) messagesOf(object({ ...fields, $schema }));
  expect(performance.now() - started).toBeLessThan(5_000);
});
