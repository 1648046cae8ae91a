import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { readAnnouncement } from '../announcement/announcement-record.js';
import type { AccountId } from '../db/account-id.js';
import { Refusal } from '../errors/refusal.js';
import { KERNEL_TOOLS } from '../kernel/catalogue.js';
import { assemble, type EligibleRunner } from './assemble.js';
import { readConfiguration } from './configuration-grammar.js';
import type { Assembled } from './declaration.js';
import { FrozenDeclaration } from './frozen-declaration.js';
import { qualifiedName } from './qualified-name.js';

const A = '01990000-0000-7000-8000-00000000000a';
const B = '01990000-0000-7000-8000-00000000000b';
const PROFILE =
  '{"kind":"pure","destructive":false,"effect_scope":"closed","idempotency":"none","reconciliation":"none"}';
const [listRunners] = KERNEL_TOOLS;
if (!listRunners) throw new Error('The catalogue is empty');

interface Definition {
  function: { name: string; description?: string; parameters: object };
  route?: { kind: string; runner_executor_public_id: string; tool_name: string };
  documents?: object[];
  canonical?: string;
}

/** A served tool as it is announced; a member given as undefined is left out. */
const served = (name: string, members: { description?: string; input_schema?: string } = {}): string => {
  const { description = `"The tool ${name}"`, input_schema = '{"type":"object"}' } = members;
  return `{"name":"${name}","effect_profile":${PROFILE},"description":${description},"input_schema":${input_schema}}`;
};
const operatorCapability = (name: string): string => `{"name":"${name}","effect_profile":${PROFILE}}`;
const document = (name: string): string => `{"name":"${name}","description":"About ${name}"}`;

function runner(
  id: string,
  tools: string[],
  documents: string[] = [],
  environment = '{"os": "linux"}',
): EligibleRunner {
  const announcement = readAnnouncement({
    executor_id: id,
    account_id: 'account' as AccountId,
    version: '1',
    tools: `[${tools.join(', ')}]`,
    environment,
    documents: `[${documents.join(', ')}]`,
    delivery: 'claim',
    max_in_flight: 16,
    instance_id: null,
    announced_at: new Date(),
  });
  return { id, displayName: `Box ${id.at(-1) ?? ''}`, announcement };
}

function assembleOf(
  configuration: object | string,
  selected: string | null,
  ...runners: EligibleRunner[]
): Assembled {
  const text = typeof configuration === 'string' ? configuration : JSON.stringify(configuration);
  return assemble({
    configuration: readConfiguration(text),
    defaultRunnerId: selected,
    namesCandidates: true,
    eligible: new Map(runners.map((known) => [known.id, known])),
  });
}

const definitionsOf = ({ toolDefinitions }: Assembled): Definition[] =>
  JSON.parse(toolDefinitions.text) as Definition[];
const namesOf = (assembled: Assembled): string[] =>
  definitionsOf(assembled).map((definition) => definition.function.name);
const routed = (name: string, runnerId: string, toolName: string, declared: object = {}): object => ({
  type: 'function',
  function: { name, description: 'Mine', parameters: { type: 'object' }, ...declared },
  route: { kind: 'runner', runner_executor_public_id: runnerId, tool_name: toolName },
});

function refusalOf(work: () => unknown): { code: string; message: string } {
  try {
    work();
  } catch (refusal) {
    if (refusal instanceof Refusal) return { code: refusal.code, message: refusal.message };
    throw refusal;
  }
  throw new Error('It was assembled');
}

describe('An assembly imports from the selected runner', () => {
  it('its model-visible tools, each with a route, and never an operator capability', () => {
    const assembled = assembleOf(
      { runner_executor_public_ids: [A] },
      A,
      runner(A, [served('write'), operatorCapability('process_log'), served('read')]),
    );
    expect(definitionsOf(assembled)).toEqual([
      {
        type: 'function',
        function: { name: 'read', description: 'The tool read', parameters: { type: 'object' } },
        route: { kind: 'runner', runner_executor_public_id: A, tool_name: 'read' },
      },
      {
        type: 'function',
        function: { name: 'write', description: 'The tool write', parameters: { type: 'object' } },
        route: { kind: 'runner', runner_executor_public_id: A, tool_name: 'write' },
      },
    ]);
  });

  it('the description and the schema byte for byte', () => {
    const description = '"\\u0041 \\/ caf\\u00e9 – 𝒳"';
    const schema = '{ "type" : "object", "properties": {"n": {"maximum": 1.50e+2, "2":0, "1":0}} }';
    const { toolDefinitions } = assembleOf(
      { runner_executor_public_ids: [A] },
      A,
      runner(A, [served('n', { description, input_schema: schema })]),
    );
    expect(toolDefinitions.text).toContain(`"description":${description},"parameters":${schema}}`);
  });

  it.each<[string, string[] | null, string[]]>([
    ['all of them for null', null, ['read', 'write']],
    ['none for an empty list', [], []],
    ['the exact intersection with a list', ['write', 'missing', 'process_log'], ['write']],
  ])('%s', (_, names, expected) => {
    const box = runner(A, [served('write'), served('read'), operatorCapability('process_log')]);
    expect(
      namesOf(assembleOf({ runner_executor_public_ids: [A], runner_tool_names: names }, A, box)),
    ).toEqual(expected);
  });

  it('and another candidate never fills a gap', () => {
    const configuration = { runner_executor_public_ids: [A, B], runner_tool_names: ['read', 'write'] };
    expect(
      namesOf(assembleOf(configuration, A, runner(A, [served('read')]), runner(B, [served('write')]))),
    ).toEqual(['read']);
  });

  it('nothing when none is selected, or when it never announced', () => {
    const silent = { id: A, displayName: 'Box', announcement: undefined };
    expect(
      namesOf(assembleOf({ runner_executor_public_ids: [A] }, null, runner(A, [served('read')]))),
    ).toEqual([]);
    expect(namesOf(assembleOf({ runner_executor_public_ids: [A] }, A, silent))).toEqual([]);
  });
});

describe('The selected runner', () => {
  it('must be among the candidates', () => {
    const work = (): unknown => assembleOf({ runner_executor_public_ids: [B] }, A, runner(A, []));
    expect(refusalOf(work).code).toBe('runner_not_declared');
    expect(refusalOf(() => assembleOf({}, A, runner(A, []))).code).toBe('runner_not_declared');
  });

  it('must be eligible', () => {
    expect(refusalOf(() => assembleOf({ runner_executor_public_ids: [A] }, A)).code).toBe(
      'runner_not_eligible',
    );
  });

  it('is no candidate in a human’s run without a configuration, and contributes all the same nothing but itself', () => {
    const assembled = assemble({
      configuration: readConfiguration('{}'),
      defaultRunnerId: A,
      namesCandidates: false,
      eligible: new Map([[A, runner(A, [served('read')])]]),
    });
    expect(namesOf(assembled)).toEqual([]);
    expect(JSON.parse(assembled.environment.text)).toMatchObject({
      default_runner_executor_public_id: A,
      executors: [{ runner_executor_public_id: A }],
      runner_candidates: [],
    });
  });
});

describe('The environment', () => {
  const row = (id: string): object => ({
    runner_executor_public_id: id,
    display_name: `Box ${id.at(-1) ?? ''}`,
    environment: { os: 'linux' },
  });

  it('lists the eligible candidates in their order, and leaves the ineligible out silently', () => {
    const missing = '01990000-0000-7000-8000-00000000000c';
    const { environment } = assembleOf(
      { runner_executor_public_ids: [B, missing, A] },
      A,
      runner(A, []),
      runner(B, []),
    );
    expect(JSON.parse(environment.text)).toEqual({
      default_runner_executor_public_id: A,
      executors: [row(A)],
      runner_candidates: [row(B), row(A)],
    });
  });

  it('names as executors the selected runner and those of explicit routes', () => {
    const configuration = { tool_definitions: [routed('there', B, 'read')], runner_executor_public_ids: [A] };
    const { environment } = assembleOf(configuration, A, runner(A, []), runner(B, [served('read')]));
    expect(JSON.parse(environment.text)).toMatchObject({
      executors: [row(A), row(B)],
      runner_candidates: [row(A)],
    });
  });

  it('keeps each runner’s own byte for byte, and is {} for one that never announced', () => {
    const own = '{"z": 1.0,  "a":"\\u00e9"}';
    const silent = { id: B, displayName: 'Silent "box"', announcement: undefined };
    const { environment } = assembleOf(
      { runner_executor_public_ids: [A, B] },
      null,
      runner(A, [], [], own),
      silent,
    );
    expect(environment.text).toContain(`"environment":${own}`);
    expect(environment.text).toContain('"display_name":"Silent \\"box\\"","environment":{}');
  });
});

describe('Callable names', () => {
  it('of imports give way to explicit ones and aliases', () => {
    const configuration = {
      tool_definitions: [routed('read', B, 'read'), { name: 'write', canonical: listRunners.canonical_name }],
      runner_executor_public_ids: [A],
    };
    const assembled = assembleOf(
      configuration,
      A,
      runner(A, [served('read'), served('write'), served('ls')]),
      runner(B, [served('read')]),
    );
    const names = ['read', 'write', 'ls', qualifiedName(A, 'read'), qualifiedName(A, 'write')].sort();
    expect(namesOf(assembled)).toEqual(names);
    const imported = definitionsOf(assembled).find(
      (definition) => definition.function.name === qualifiedName(A, 'read'),
    );
    expect(imported?.route).toEqual({ kind: 'runner', runner_executor_public_id: A, tool_name: 'read' });
  });

  it('that are still double are refused', () => {
    const double = qualifiedName(A, 'read');
    const configuration = {
      tool_definitions: [routed('read', A, 'read'), routed(double, A, 'read')],
      runner_executor_public_ids: [A],
    };
    expect(refusalOf(() => assembleOf(configuration, A, runner(A, [served('read')])))).toEqual({
      code: 'duplicate_tool_name',
      message: `tool_definitions has two callables named ${double}`,
    });
  });

  const toolName = fc.stringMatching(/^[A-Za-z0-9_-]{1,128}$/);
  const names = fc.uniqueArray(toolName, { maxLength: 20 });

  it('are unique, at most 64 long, sorted, stable, and lead to the tools of the selected runner only', () => {
    fc.assert(
      fc.property(names, names, names, (offered, elsewhere, explicit) => {
        const callable = [...new Set(explicit.map((name) => name.slice(0, 64)))];
        const configuration = {
          tool_definitions: callable.map((name) => routed(name, B, 'anchor')),
          runner_executor_public_ids: [A, B],
        };
        const a = runner(
          A,
          offered.map((name) => served(name)),
        );
        const b = runner(
          B,
          [...elsewhere.filter((name) => name !== 'anchor'), 'anchor'].map((name) => served(name)),
        );
        const once = assembleOf(configuration, A, a, b);
        const found = namesOf(once);
        expect(new Set(found).size).toBe(found.length);
        expect(found.every((name) => /^[A-Za-z0-9_-]{1,64}$/.test(name))).toBe(true);
        expect(found).toEqual([...found].sort());
        expect(assembleOf(configuration, A, a, b).digest.equals(once.digest)).toBe(true);
        const imported = definitionsOf(once).filter(({ route }) => route?.runner_executor_public_id === A);
        expect(imported.map(({ route }) => route?.tool_name).sort()).toEqual([...offered].sort());
        // what else the explicit list holds changes no qualified name
        for (const { function: declared, route } of imported) {
          expect([route?.tool_name, qualifiedName(A, route?.tool_name ?? '')]).toContain(declared.name);
        }
      }),
      { numRuns: 60 },
    );
  });
});

describe('Imported bytes', () => {
  it('are those that were announced, whatever they are', () => {
    const text = fc.string({ unit: 'grapheme', minLength: 1 }).map((value) => JSON.stringify(value));
    const schema = fc
      .dictionary(fc.string(), fc.jsonValue())
      .map((value) => JSON.stringify({ type: 'object', properties: value }, null, 1));
    fc.assert(
      fc.property(text, schema, (description, input_schema) => {
        const box = runner(A, [served('n', { description, input_schema })]);
        const { toolDefinitions, environment } = assembleOf({ runner_executor_public_ids: [A] }, A, box);
        const route = `{"kind":"runner","runner_executor_public_id":"${A}","tool_name":"n"}`;
        const declared = `{"name":"n","description":${description},"parameters":${input_schema}}`;
        expect(toolDefinitions.text).toBe(`[{"type":"function","function":${declared},"route":${route}}]`);
        const frozen = FrozenDeclaration.read(toolDefinitions.text, environment.text);
        expect(frozen.callables.get('n')).toEqual({
          name: 'n',
          route: { runnerId: A, toolName: 'n' },
          definitionText: toolDefinitions.text.slice(1, -1),
        });
      }),
    );
  });
});

describe('An explicit route', () => {
  const declaring = (toolName: string): object => ({ tool_definitions: [routed('there', B, toolName)] });

  it.each<[code: string, string, EligibleRunner[], string]>([
    ['runner_not_eligible', 'to a runner that is not eligible', [], 'read'],
    ['tool_not_served', 'to a tool that is not announced', [runner(B, [served('write')])], 'read'],
    ['tool_not_served', 'to an operator capability', [runner(B, [operatorCapability('read')])], 'read'],
    [
      'tool_not_served',
      'to a skill that has no documents and no description',
      [runner(B, [operatorCapability('skill')])],
      'skill',
    ],
  ])('is refused %s %s', (code, _, runners, toolName) => {
    const refusal = refusalOf(() => assembleOf(declaring(toolName), null, ...runners));
    expect(refusal.code).toBe(code);
    expect(refusal.message).toMatch(/^configuration\.tool_definitions\[0\]\.route /);
  });

  it('needs no candidate, and keeps what its author wrote', () => {
    const configuration = `{"tool_definitions":[{"type":"function","function":{ "name":"there", "strict":true,"parameters":{"a":1.0}},
      "route":{"kind":"runner","runner_executor_public_id":"${B}","tool_name":"read","note":1}}]}`;
    const { toolDefinitions } = assembleOf(configuration, null, runner(B, [served('read')]));
    expect(toolDefinitions.text).toBe(
      '[{"type":"function","function":{ "name":"there", "strict":true,"parameters":{"a":1.0}},' +
        `"route":{"kind":"runner","runner_executor_public_id":"${B}","tool_name":"read"}}]`,
    );
  });
});

describe('A kernel tool', () => {
  it.each<[string, object]>([
    ['imported', { kernel_tools: [listRunners.canonical_name] }],
    ['declared byte-equal to the catalogue', { tool_definitions: [listRunners.definition] }],
  ])('%s is the catalogue’s definition', (_, configuration) => {
    expect(definitionsOf(assembleOf(configuration, null))).toEqual([listRunners.definition]);
  });

  it('under an alias keeps its parameters and says what it is', () => {
    const alias = {
      name: 'who',
      canonical: listRunners.canonical_name,
      description: 'Who is there?',
      defer_loading: true,
    };
    expect(definitionsOf(assembleOf({ tool_definitions: [alias] }, null))).toEqual([
      {
        type: 'function',
        function: { ...listRunners.definition.function, name: 'who', description: 'Who is there?' },
        canonical: listRunners.canonical_name,
        defer_loading: true,
      },
    ]);
  });
});

describe('A skill callable', () => {
  const librarian = (id: string): EligibleRunner =>
    runner(id, [operatorCapability('skill'), served('read')], [document('git'), document('make')]);

  it('of the selected runner lists its documents', () => {
    const [, skill] = definitionsOf(assembleOf({ runner_executor_public_ids: [A] }, A, librarian(A)));
    expect(skill).toMatchObject({
      function: {
        name: 'skill',
        parameters: { type: 'object', properties: { name: { enum: ['git', 'make'] } }, required: ['name'] },
      },
      route: { runner_executor_public_id: A, tool_name: 'skill' },
      documents: [
        { name: 'git', description: 'About git' },
        { name: 'make', description: 'About make' },
      ],
    });
    expect(skill?.function.description).toContain('- git: About git\n- make: About make');
  });

  it('keeps a description and a schema that the runner announced', () => {
    const box = runner(A, [served('skill', { input_schema: '{"type": "object","x":1}' })], [document('git')]);
    const { toolDefinitions } = assembleOf({ runner_executor_public_ids: [A] }, A, box);
    expect(toolDefinitions.text).toContain(
      '"description":"The tool skill","parameters":{"type": "object","x":1}',
    );
    expect(toolDefinitions.text).toContain(`"documents":[${document('git')}]`);
  });

  it('of another runner is named by an explicit route, and equally named documents stay apart', () => {
    const configuration = {
      tool_definitions: [routed('skill_there', B, 'skill')],
      runner_executor_public_ids: [A],
    };
    const other = runner(B, [operatorCapability('skill')], ['{"name":"git","description":"Another git"}']);
    const definitions = definitionsOf(assembleOf(configuration, A, librarian(A), other));
    expect(
      definitions.map(({ function: { name }, documents, route }) => [
        name,
        route?.runner_executor_public_id,
        documents?.[0],
      ]),
    ).toEqual([
      ['read', A, undefined],
      ['skill', A, { name: 'git', description: 'About git' }],
      ['skill_there', B, { name: 'git', description: 'Another git' }],
    ]);
  });

  it('that an explicit declaration does not describe is described by its documents', () => {
    const configuration = {
      tool_definitions: [routed('skill_there', B, 'skill', { description: undefined })],
    };
    const [skill] = definitionsOf(assembleOf(configuration, null, librarian(B)));
    expect(skill?.function.description).toContain('- git: About git');
    expect(skill?.function.parameters).toEqual({ type: 'object' });
  });

  it.each<[string, string[] | null, EligibleRunner]>([
    ['without documents', null, runner(A, [operatorCapability('skill')])],
    ['without the tool', null, runner(A, [], [document('git')])],
    ['where the configuration imports other tools only', ['read'], librarian(A)],
    ['where the configuration imports none', [], librarian(A)],
  ])('is not contributed %s', (_, names, box) => {
    const found = namesOf(assembleOf({ runner_executor_public_ids: [A], runner_tool_names: names }, A, box));
    expect(found).not.toContain('skill');
  });
});

describe('The whole result', () => {
  const sized = (bytes: number): EligibleRunner =>
    runner(A, [served('n', { description: `"${'é'.repeat(bytes / 2)}"` })]);

  it('is at most 1 MiB, measured in UTF-8', () => {
    const configuration = { runner_executor_public_ids: [A] };
    expect(namesOf(assembleOf(configuration, A, sized(1024 * 1024 - 1024)))).toEqual(['n']);
    expect(refusalOf(() => assembleOf(configuration, A, sized(1024 * 1024))).code).toBe('content_too_large');
  });

  it('may be declared as it was answered, and is then the same', () => {
    const configuration = {
      tool_definitions: [routed('there', B, 'read'), { name: 'who', canonical: listRunners.canonical_name }],
      kernel_tools: [listRunners.canonical_name],
      runner_executor_public_ids: [A],
    };
    const a = runner(A, [served('read'), operatorCapability('skill')], [document('git')]);
    const b = runner(B, [served('read')]);
    const { toolDefinitions } = assembleOf(configuration, A, a, b);
    const again = assembleOf(`{"tool_definitions":${toolDefinitions.text}}`, null, a, b);
    expect(again.toolDefinitions.text).toBe(toolDefinitions.text);
  });

  it('of {} is nothing', () => {
    const { toolDefinitions, environment } = assembleOf({}, null);
    expect(toolDefinitions.text).toBe('[]');
    expect(JSON.parse(environment.text)).toEqual({
      default_runner_executor_public_id: null,
      executors: [],
      runner_candidates: [],
    });
  });

  it('of 50 tools of 5 KB takes less than a millisecond', () => {
    const tools = Array.from({ length: 50 }, (_, index) =>
      served(`t${index}`, { description: `"${'d'.repeat(5_000)}"` }),
    );
    const facts = {
      configuration: readConfiguration(JSON.stringify({ runner_executor_public_ids: [A] })),
      defaultRunnerId: A,
      namesCandidates: true,
      eligible: new Map([[A, runner(A, tools)]]),
    };
    const timed = Array.from({ length: 200 }, () => {
      const started = performance.now();
      assemble(facts);
      return performance.now() - started;
    });
    timed.sort((one, other) => one - other);
    expect(timed[0]).toBeLessThan(1);
  });
});

describe('A frozen declaration', () => {
  const configuration = {
    tool_definitions: [
      routed('there', B, 'read'),
      { name: 'who', canonical: listRunners.canonical_name },
      { type: 'function', function: { name: 'mine', parameters: {} } },
    ],
    kernel_tools: [listRunners.canonical_name],
    runner_executor_public_ids: [A, B],
  };
  const { toolDefinitions, environment } = assembleOf(
    configuration,
    A,
    runner(A, [served('ls')]),
    runner(B, [served('read')]),
  );
  const frozen = FrozenDeclaration.read(toolDefinitions.text, environment.text);

  it('reads back every callable with where it leads', () => {
    const found = [...frozen.callables.values()].map(({ name, route, canonical }) => ({
      name,
      route,
      canonical,
    }));
    expect(found).toEqual([
      { name: 'ls', route: { runnerId: A, toolName: 'ls' } },
      { name: 'mine' },
      { name: listRunners.name, canonical: listRunners.canonical_name },
      { name: 'there', route: { runnerId: B, toolName: 'read' } },
      { name: 'who', canonical: listRunners.canonical_name },
    ]);
  });

  it('reads back the default and the candidates', () => {
    expect(frozen.defaultRunnerId).toBe(A);
    expect(frozen.candidates.map(({ runnerId }) => runnerId)).toEqual([A, B]);
    expect(frozen.candidates[0]?.row.text).toBe(
      `{"runner_executor_public_id":"${A}","display_name":"Box a","environment":{"os": "linux"}}`,
    );
  });

  it('knows which pairs of runner and tool it reaches', () => {
    expect([frozen.reaches(B, 'read'), frozen.reaches(A, 'read'), frozen.reaches(B, 'there')]).toEqual([
      true,
      false,
      false,
    ]);
  });

  it('narrows to the callables named, byte for byte', () => {
    const kept = ['mine', 'ls'].map((name) => frozen.callables.get(name)?.definitionText ?? '');
    expect(frozen.narrowedTo(new Set(['mine', 'ls', 'missing'])).text).toBe(`[${kept.reverse().join(',')}]`);
    expect(frozen.narrowedTo(new Set()).text).toBe('[]');
  });
});
