import { describe, expect, it } from '@jest/globals';
import { FrozenDeclaration } from '../assembly/frozen-declaration.js';
import { readSearch, searchTools } from './tool-search.js';

const RUNNER = '01900000-0000-7000-8000-000000000001';
const definition = (name: string, description: string, more: object = {}): object => ({
  type: 'function',
  function: { name, description, parameters: { type: 'object', z: 1, a: 2 } },
  ...more,
});
const route = (toolName: string): object => ({
  route: { kind: 'runner', runner_executor_public_id: RUNNER, tool_name: toolName },
});
const DEFINITIONS = [
  definition('grep', 'Searches files for a pattern', route('grep')),
  definition('read', 'Reads a file', route('read')),
  definition('read_image', 'Reads an image file', route('read_image')),
  definition('skill', 'Loads a document', {
    ...route('skill'),
    documents: [{ name: 'deployment', description: 'How to roll out a release' }],
  }),
];
const declaration = FrozenDeclaration.read(
  JSON.stringify(DEFINITIONS),
  JSON.stringify({ default_runner_executor_public_id: null, executors: [], runner_candidates: [] }),
);
const found = (query: string, limit = 10): { tools: { name: string }[]; truncated: boolean } =>
  JSON.parse(searchTools(declaration, { query, limit })) as { tools: { name: string }[]; truncated: boolean };
const names = (query: string): string[] => found(query).tools.map(({ name }) => name);

describe('tool_search over the frozen declaration', () => {
  it('finds the exact callable first, then all that hold every word', () => {
    expect(names('read')).toEqual(['read', 'read_image']);
    expect(names('read_image')).toEqual(['read_image']);
    expect(names('FILE reads')).toEqual(['read', 'read_image']);
    expect(names('file nothing')).toEqual([]);
  });

  it('finds a skill by its documents, and names them', () => {
    expect(found('roll out')).toEqual({
      tools: [
        {
          name: 'skill',
          definition: { type: 'function', function: (DEFINITIONS[3] as { function: object }).function },
          ...route('skill'),
          skills: [{ name: 'deployment', description: 'How to roll out a release' }],
        },
      ],
      truncated: false,
    });
  });

  it('answers definitions to the byte, and says when there are more', () => {
    const text = searchTools(declaration, { query: 'file', limit: 1 });
    expect(text).toContain('"parameters":{"type":"object","z":1,"a":2}');
    expect(text).toMatch(/"truncated":true}$/);
  });

  it.each([
    [{}, 'query must be a string of 1 to 1000 characters'],
    [{ query: ' ' }, 'query must be a string of 1 to 1000 characters'],
    [{ query: 7 }, 'query must be a string of 1 to 1000 characters'],
    [{ query: 'a', limit: 0 }, 'limit must be an integer from 1 to 50'],
    [{ query: 'a', limit: '3' }, 'limit must be an integer from 1 to 50'],
  ])('says what is wrong with %j', (input, fault) => {
    expect(readSearch(input)).toEqual({ fault });
  });
});
