import { describe, expect, it } from '@jest/globals';
import { KERNEL_TOOLS } from './catalogue.js';
import { effectProfileFaults } from './effect-profile.js';
import { isCallableName } from './names.js';
import { reservedNamespace } from './reserved-names.js';

describe.each(KERNEL_TOOLS.map((tool) => [tool.canonical_name, tool] as const))(
  'The kernel tool %s',
  (canonical, tool) => {
    it('keeps both of its names', () => {
      expect(isCallableName(tool.name)).toBe(true);
      expect(reservedNamespace(tool.name)).toBe(canonical.split('.').slice(0, 2).join('.'));
      expect(reservedNamespace(canonical)).toBe(reservedNamespace(tool.name));
    });

    it('is defined under its wire name, by a schema for an object', () => {
      const { name, description, parameters } = tool.definition.function;
      expect(name).toBe(tool.name);
      expect(description).not.toBe('');
      expect(parameters).toMatchObject({ type: 'object' });
    });

    it('has an effect profile', () => {
      if (tool.effect_profile !== 'of_called_tool')
        expect(effectProfileFaults(tool.effect_profile, 'p')).toEqual([]);
    });
  },
);

it('nexus.runners.list is runners_list, read_only, closed, intrinsic, with input {}', () => {
  expect(KERNEL_TOOLS[0]).toMatchObject({
    canonical_name: 'nexus.runners.list',
    name: 'runners_list',
    effect_profile: { kind: 'read_only', effect_scope: 'closed', idempotency: 'intrinsic' },
    definition: { function: { parameters: { type: 'object', properties: {} } } },
  });
});
