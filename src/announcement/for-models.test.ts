import { describe, expect, it } from '@jest/globals';
import { parseAnnouncement } from './announcement-grammar.js';
import { operatorNames } from './for-models.js';

const effect_profile = {
  kind: 'read_only',
  destructive: false,
  effect_scope: 'closed',
  idempotency: 'intrinsic',
  reconciliation: 'none',
};
const described = { description: 'words', input_schema: { type: 'object' } };

const announced = (tools: object[], documents: object[] = []) =>
  parseAnnouncement(JSON.stringify({ tools, documents }), {
    modules: ['tools'],
    toolPrefix: 'nexus.v1.tool.E.1',
  });

describe('Operator capabilities', () => {
  it('are the tools without a description, without a schema, or without both', () => {
    const announcement = announced([
      { name: 'shown', effect_profile, ...described },
      { name: 'bare', effect_profile },
      { name: 'no_schema', effect_profile, description: 'words' },
      { name: 'no_words', effect_profile, input_schema: { type: 'object' } },
    ]);
    expect(operatorNames(announcement, 'runner')).toEqual(['bare', 'no_schema', 'no_words']);
  });

  const skill = { name: 'skill', effect_profile };
  const documents = [{ name: 'deployment', description: 'How to roll out' }];

  it.each([
    ['a runner', 'runner', documents, []],
    ['a runner without documents', 'runner', [], ['skill']],
    ['a provider, whose documents nobody is shown', 'tool_provider', documents, ['skill']],
  ] as const)('the skill of %s', (_, kind, served, names) => {
    expect(operatorNames(announced([skill], [...served]), kind)).toEqual(names);
  });
});
