import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Refusal } from '../errors/refusal.js';
import { KERNEL_TOOLS } from '../kernel/catalogue.js';
import { readConfiguration } from './configuration-grammar.js';

const RUNNER = '01990000-0000-7000-8000-00000000000a';
const route = { kind: 'runner', runner_executor_public_id: RUNNER, tool_name: 'read' };
const definition = (fields: object = {}, declared: object = {}): object => ({
  type: 'function',
  function: { name: 'remote_read', parameters: { type: 'object' }, ...declared },
  ...fields,
});
const routed = (fields: object, declared: object = {}): object => ({
  tool_definitions: [definition({ route: { ...route, ...fields } }, declared)],
});
const [listRunners] = KERNEL_TOOLS;
if (!listRunners) throw new Error('The catalogue is empty');

function refusalOf(value: unknown, root?: string): Refusal {
  try {
    readConfiguration(typeof value === 'string' ? value : JSON.stringify(value), root);
  } catch (refusal) {
    if (refusal instanceof Refusal) return refusal;
    throw refusal;
  }
  throw new Error('It was admitted');
}

describe('A configuration is admitted', () => {
  it.each<[string, object]>([
    ['when it is empty', {}],
    ['with unknown fields, which are ignored', { colour: 'blue' }],
    ['with an explicit declaration', { tool_definitions: [definition()] }],
    ['with a concrete route', routed({})],
    ['with a route to a skill', routed({ tool_name: 'skill' }, { name: 'skill' })],
    ['with a deferred declaration', { tool_definitions: [definition({ defer_loading: true })] }],
    ['with a kernel tool byte-equal to the catalogue', { tool_definitions: [listRunners.definition] }],
    ['with an alias', { tool_definitions: [{ name: 'who', canonical: listRunners.canonical_name }] }],
    ['with kernel tools to import', { kernel_tools: [listRunners.canonical_name] }],
    ['with candidates', { runner_executor_public_ids: [RUNNER] }],
    ['with all tools of the runner', { runner_tool_names: null }],
    ['with none of them', { runner_tool_names: [] }],
    ['with a list of them', { runner_tool_names: ['read', 'x'.repeat(128)] }],
    [
      'with a mode and rules',
      { approval_mode: 'rules', approval_rules: [{ tool: 'read', verdict: 'allow' }] },
    ],
  ])('%s', (_, value) => {
    expect(readConfiguration(JSON.stringify(value)).text).toBe(JSON.stringify(value));
  });

  it('and its explicit declarations keep their bytes', () => {
    const declared =
      '{ "name":"n","parameters" : {"type":"object","maximum":1.0,"b":1,"a":"\\u00e9"}, "strict":true }';
    const { toolDefinitions } = readConfiguration(
      `{"tool_definitions":[{"function":${declared},"type":"function"}]}`,
    );
    expect(toolDefinitions).toEqual([
      expect.objectContaining({ kind: 'explicit', name: 'n', functionText: declared }),
    ]);
  });

  it('and its rules keep their bytes', () => {
    const rules = '[ {"verdict":"deny", "tool":"rm*"} ]';
    expect(readConfiguration(`{"approval_rules":${rules}}`).approvalRulesText).toBe(rules);
  });
});

const NAME_RULE = 'must match ^[A-Za-z0-9_-]{1,64}$';
const CANONICAL = KERNEL_TOOLS.map(({ canonical_name }) => canonical_name).join(', ');

describe('A configuration is refused', () => {
  it.each<[code: string, message: string, value: unknown]>([
    ['validation_failed', 'tool_definitions must be a list', { tool_definitions: {} }],
    ['validation_failed', 'tool_definitions must be a list', { tool_definitions: null }],
    ['validation_failed', 'tool_definitions[0] must be an object', { tool_definitions: [7] }],
    [
      'validation_failed',
      'tool_definitions[0].type must be function',
      { tool_definitions: [definition({ type: 'tool' })] },
    ],
    [
      'validation_failed',
      'tool_definitions[0].function must be an object',
      { tool_definitions: [{ type: 'function' }] },
    ],
    [
      'validation_failed',
      `tool_definitions[1].function.name ${NAME_RULE}`,
      { tool_definitions: [definition(), definition({}, { name: 'x'.repeat(65) })] },
    ],
    [
      'validation_failed',
      'tool_definitions[0].function.description must be a string',
      { tool_definitions: [definition({}, { description: 7 })] },
    ],
    [
      'validation_failed',
      'tool_definitions[0].function.parameters must be an object',
      { tool_definitions: [definition({}, { parameters: undefined })] },
    ],
    [
      'validation_failed',
      'tool_definitions[0].defer_loading must be a boolean',
      { tool_definitions: [definition({ defer_loading: 'yes' })] },
    ],
    [
      'validation_failed',
      `tool_definitions[0].function must be byte-equal to the catalogue's ${listRunners.name}`,
      { tool_definitions: [definition({}, { name: listRunners.name })] },
    ],
    [
      'validation_failed',
      'tool_definitions[0].function.name names a reserved kernel namespace (nexus.console)',
      { tool_definitions: [definition({}, { name: 'nexus.console.call' })] },
    ],
    [
      'validation_failed',
      `tool_definitions[0].canonical must be one of ${CANONICAL}`,
      { tool_definitions: [{ name: 'who', canonical: 'nexus.nobody' }] },
    ],
    [
      'validation_failed',
      `tool_definitions[0].name ${NAME_RULE}`,
      { tool_definitions: [{ canonical: listRunners.canonical_name }] },
    ],
    [
      'validation_failed',
      `kernel_tools[0] must be one of ${CANONICAL}`,
      { kernel_tools: [listRunners.name] },
    ],
    [
      'validation_failed',
      `kernel_tools[1] repeats ${listRunners.canonical_name}`,
      { kernel_tools: [listRunners.canonical_name, listRunners.canonical_name] },
    ],
    [
      'validation_failed',
      'runner_executor_public_ids[0] must be a UUID',
      { runner_executor_public_ids: ['box'] },
    ],
    [
      'validation_failed',
      `runner_executor_public_ids[1] repeats ${RUNNER}`,
      { runner_executor_public_ids: [RUNNER, RUNNER] },
    ],
    ['validation_failed', 'runner_tool_names must be a list', { runner_tool_names: 'all' }],
    [
      'validation_failed',
      'runner_tool_names[0] must be the name of a served tool',
      { runner_tool_names: ['a b'] },
    ],
    ['validation_failed', 'approval_mode must be one of bypass, rules, ask', { approval_mode: 'never' }],
    [
      'invalid_tool_route',
      'tool_definitions[0].route must be an object',
      { tool_definitions: [definition({ route: null })] },
    ],
    ['invalid_tool_route', 'tool_definitions[0].route.kind must be runner', routed({ kind: 'pool' })],
    [
      'runner_target_required',
      'tool_definitions[0].route.runner_executor_public_id is required',
      routed({ runner_executor_public_id: undefined }),
    ],
    [
      'invalid_tool_route',
      'tool_definitions[0].route.runner_executor_public_id must be a UUID',
      routed({ runner_executor_public_id: null }),
    ],
    [
      'invalid_tool_route',
      'tool_definitions[0].route.tool_name must be the name of a served tool',
      routed({ tool_name: undefined }),
    ],
    [
      'invalid_tool_route',
      'tool_definitions[0].route may not lead a reserved kernel name away (nexus.runners)',
      routed({}, { name: listRunners.name }),
    ],
    [
      'invalid_tool_route',
      'tool_definitions[0].route.tool_name names a reserved kernel namespace (nexus.tools)',
      routed({ tool_name: 'tool_call' }),
    ],
    [
      'duplicate_tool_name',
      'tool_definitions declares remote_read twice',
      { tool_definitions: [definition(), definition()] },
    ],
    [
      'duplicate_tool_name',
      `tool_definitions declares ${listRunners.name} twice`,
      { tool_definitions: [listRunners.definition], kernel_tools: [listRunners.canonical_name] },
    ],
    ['invalid_json', 'tool_definitions', '{"tool_definitions":[{"type":1,"type":2}]}'],
    [
      'validation_failed',
      'tool_definitions[0]',
      { tool_definitions: [definition({}, { description: 'a\u0000b' })] },
    ],
    [
      'validation_failed',
      'tool_definitions[0]',
      { tool_definitions: [definition({}, { description: 'a\ud800b' })] },
    ],
    ['parameter_missing', 'configuration must be an object', []],
  ])('%s: %s', (code, message, value) => {
    const refusal = refusalOf(value);
    expect({ code: refusal.code, message: refusal.message }).toEqual({
      code,
      message: expect.stringContaining(message),
    });
  });

  it('with rules that break their grammar, naming the rule', () => {
    const { code, message } = refusalOf({ approval_rules: [{ tool: 'read', verdict: 'maybe' }] });
    expect(code).toBe('validation_failed');
    expect(message).toMatch(/^approval_rules\[0\]\.verdict /);
    expect(message.match(/approval_rules/g)).toHaveLength(1);
  });

  it('with the first fault as the message and at most 20 in the details', () => {
    const refusal = refusalOf({
      kernel_tools: Array.from({ length: 30 }, (_, index) => `x${index}`),
      approval_mode: 'x',
    });
    expect(refusal.message).toMatch(/^kernel_tools\[0\] /);
    expect(refusal.details).toHaveLength(20);
    expect((refusal.details as unknown[])[1]).toEqual({
      path: 'kernel_tools[1]',
      message: `kernel_tools[1] must be one of ${CANONICAL}`,
    });
  });

  it('with the path of the request where the configuration is a field of it', () => {
    expect(refusalOf({ approval_mode: 'x' }, 'configuration').message).toMatch(
      /^configuration\.approval_mode /,
    );
  });

  it('by a refusal, whatever JSON it is', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        try {
          return readConfiguration(text).text === text;
        } catch (refusal) {
          return refusal instanceof Refusal;
        }
      }),
    );
    const fields = [
      'tool_definitions',
      'kernel_tools',
      'runner_executor_public_ids',
      'runner_tool_names',
      'approval_rules',
    ];
    fc.assert(
      fc.property(fc.constantFrom(...fields), fc.jsonValue(), (field, value) => {
        const text = JSON.stringify({ [field]: value });
        try {
          return readConfiguration(text).text === text;
        } catch (refusal) {
          return refusal instanceof Refusal && refusal.status < 500;
        }
      }),
    );
  });
});
