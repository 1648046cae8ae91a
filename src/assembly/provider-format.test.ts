import { describe, expect, it } from '@jest/globals';
import { JsonText } from '../db/json-text.js';
import { type ProviderFormat, providerTools } from './provider-format.js';

const parameters = '{ "type":"object", "maximum":1.0 }';
const declared = (name: string): string =>
  `{"name":"${name}","description":"About \\u00e9","parameters":${parameters}}`;
const route =
  '"route":{"kind":"runner","runner_executor_public_id":"01990000-0000-7000-8000-00000000000a","tool_name":"x"}';
const definition = (name: string, rest = `,${route}`): string =>
  `{"type":"function","function":${declared(name)}${rest}}`;
const shown = (definitions: string[], format: ProviderFormat = 'mcp'): string =>
  providerTools(new JsonText(`[${definitions.join(',')}]`), format).text;
const namesOf = (text: string): string[] => (JSON.parse(text) as { name: string }[]).map(({ name }) => name);

describe('Provider tools', () => {
  it.each<[ProviderFormat, string]>([
    ['openai', `[{"type":"function","function":${declared('read')}}]`],
    ['anthropic', `[{"name":"read","description":"About \\u00e9","input_schema":${parameters}}]`],
    ['mcp', `[{"name":"read","description":"About \\u00e9","inputSchema":${parameters}}]`],
  ])('are the same list in the shape of %s, without routes, byte for byte', (format, expected) => {
    expect(shown([definition('read')], format)).toBe(expected);
  });

  it('keep what else an author declared for openai, and leave an absent description absent', () => {
    const own = '{"type":"function","function":{"name":"n","strict":true,"parameters":{}}}';
    expect(shown([own], 'openai')).toBe(`[${own}]`);
    expect(shown([own], 'anthropic')).toBe('[{"name":"n","input_schema":{}}]');
  });

  it('describe a skill by its documents', () => {
    const skill = definition('skill', ',"documents":[{"name":"git","description":"About git"}]');
    const [{ description }] = JSON.parse(shown([skill])) as [{ description: string }];
    expect(description).toBe('About é\n\nDocuments:\n- git: About git');
  });

  const deferred = definition('rare', ',"defer_loading":true');
  const search = definition('tool_search', '');
  const call = definition('tool_call', '');

  it.each<[string, string[], string[]]>([
    ['stay while there is no tool_search and tool_call', [deferred], ['rare']],
    ['stay while there is only one of them', [deferred, search], ['rare', 'tool_search']],
    [
      'are left out when both are declared',
      [deferred, search, call, definition('read')],
      ['tool_search', 'tool_call', 'read'],
    ],
    [
      'are left out when both are declared as aliases',
      [
        deferred,
        definition('find', ',"canonical":"nexus.tools.search"'),
        definition('run', ',"canonical":"nexus.tools.call"'),
      ],
      ['find', 'run'],
    ],
    [
      'never take tool_search and tool_call with them',
      [deferred, definition('tool_search', ',"defer_loading":true'), call],
      ['tool_search', 'tool_call'],
    ],
  ])('that are deferred %s', (_, definitions, expected) => {
    expect(namesOf(shown(definitions))).toEqual(expected);
  });
});
