import { describe, expect, it } from '@jest/globals';
import { isServedName } from './names.js';
import { isOverridable, reservedNamespace } from './reserved-names.js';

const KEPT = {
  'nexus.runners': { list: 'runners_list' },
  'nexus.tools': { search: 'tool_search', call: 'tool_call' },
  'nexus.console': {
    machines: 'mesh_machines',
    services: 'mesh_services',
    tools: 'mesh_tools',
    describe: 'mesh_describe',
    call: 'mesh_call',
  },
};

describe('A name that the kernel keeps for itself', () => {
  const rows = Object.entries(KEPT).flatMap(([namespace, tools]) =>
    Object.entries(tools).map(([tool, wire]) => [wire, `${namespace}.${tool}`, namespace] as const),
  );

  it.each(rows)('%s, in canonical spelling %s, belongs to %s', (wire, canonical, namespace) => {
    expect(reservedNamespace(wire)).toBe(namespace);
    expect(reservedNamespace(canonical)).toBe(namespace);
  });

  it.each([
    ['nexus.anything', 'nexus.anything'],
    ['nexus.tools.other', 'nexus.tools'],
    ['nexus.skill.other', 'nexus.skill'],
    ['nexus.a.b.c', 'nexus.a'],
    ['nexus.', 'nexus.'],
    [`nexus.${'x'.repeat(1_000)}`, `nexus.${'x'.repeat(58)}`],
  ])('is any other that begins with nexus.: %s', (name, namespace) => {
    expect(reservedNamespace(name)).toBe(namespace);
  });

  it('is told from a name without grammar, so it is asked about first', () => {
    expect(isServedName('nexus.tools.search')).toBe(false);
    expect(reservedNamespace('nexus.tools.search')).toBe('nexus.tools');
  });
});

describe('A name that is free', () => {
  it.each([
    'status',
    'send',
    'wait',
    'skill',
    'nexus',
    'nexus_tools',
    'Nexus.tools.search',
    'bash',
    '',
    '__proto__',
    'toString',
  ])('is %s', (name) => expect(reservedNamespace(name)).toBeUndefined());

  it.each(['memory_read', 'memory_write', 'memory_edit', 'memory_ls', 'memory_grep', 'memory_delete'])(
    'is %s, which is overridable',
    (name) => {
      expect(reservedNamespace(name)).toBeUndefined();
      expect(isOverridable(name)).toBe(true);
    },
  );

  it.each(['nexus.skill.load', 'nexus.memory.read'])(
    'is no served name in canonical spelling: %s',
    (name) => {
      expect(reservedNamespace(name)).toBeUndefined();
      expect(isServedName(name)).toBe(false);
    },
  );

  it.each(['skill', 'tool_call', 'memory', 'memory_other'])('is not overridable: %s', (name) => {
    expect(isOverridable(name)).toBe(false);
  });
});
