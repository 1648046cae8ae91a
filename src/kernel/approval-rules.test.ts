import { describe, expect, it } from '@jest/globals';
import { approvalRuleFaults } from './approval-rules.js';

const rule = (fields: object = {}): object => ({ tool: 'read', verdict: 'allow', ...fields });

describe('The grammar of approval rules (chapter 6)', () => {
  it.each([
    ['no rules', []],
    ['a name', [rule()]],
    ['names with * joined by |', [rule({ tool: 'files_*|*|read' })]],
    ['path and match', [rule({ path: 'options.command', match: 'rm *' })]],
    ['a partial effect profile', [rule({ effect: { destructive: true } })]],
    ['an empty effect profile', [rule({ effect: {} })]],
    [
      'each verdict, with a reason',
      ['allow', 'ask', 'deny'].map((verdict) => rule({ verdict, reason: 'why' })),
    ],
    ['keys of others', [rule({ note: 1 })]],
  ])('admits %s', (_, rules) => {
    expect(approvalRuleFaults(rules, 'approval_rules')).toEqual([]);
  });

  it.each([
    ['r must be a list of rules', null],
    ['r must be a list of rules', { tool: 'read' }],
    ['r must have at most 200 rules', Array.from({ length: 201 }, () => rule())],
    ['r[0] must be an object', ['read']],
    ['r[1] must be an object', [rule(), null]],
    ['r[0].tool must be names with *, joined by |', [{ verdict: 'allow' }]],
    ['r[0].tool must be names with *, joined by |', [rule({ tool: '' })]],
    ['r[0].tool must be names with *, joined by |', [rule({ tool: 'a||b' })]],
    ['r[0].tool must be names with *, joined by |', [rule({ tool: 'a b' })]],
    ['r[0].path must be a dot path', [rule({ path: 'a..b', match: 'x' })]],
    ['r[0].match must be a non-empty string', [rule({ path: 'a', match: 7 })]],
    ['r[0] must carry path and match together', [rule({ path: 'a' })]],
    ['r[0] must carry path and match together', [rule({ match: 'a' })]],
    ['r[0].effect must be a partial effect profile', [rule({ effect: 'write' })]],
    ['r[0].effect.kind must be one of pure, read_only, write', [rule({ effect: { kind: 'reads' } })]],
    ['r[0].effect.size is no part of an effect profile', [rule({ effect: { size: 1 } })]],
    ['r[0].verdict must be one of allow, ask, deny', [{ tool: 'read' }]],
    ['r[0].verdict must be one of allow, ask, deny', [rule({ verdict: 'maybe' })]],
    ['r[0].reason must be a non-empty string', [rule({ reason: '  ' })]],
  ])('says %s', (message, rules) => {
    const [first] = approvalRuleFaults(rules, 'r');
    expect(first?.message).toBe(message);
    expect(first?.message.startsWith(first.path)).toBe(true);
  });

  it('names every fault, in document order', () => {
    const faults = approvalRuleFaults([{ tool: '', verdict: 'x' }, rule(), { tool: 'a', verdict: 1 }], 'r');
    expect(faults.map(({ path }) => path)).toEqual(['r[0].tool', 'r[0].verdict', 'r[2].verdict']);
  });
});
