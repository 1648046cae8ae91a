import { describe, expect, it } from '@jest/globals';
import type { ApprovalRule } from '../kernel/approval-rules.js';
import type { EffectProfile } from '../kernel/effect-profile.js';
import { type ApprovalPolicy, decide, readsInput } from './approval-policy.js';

const READ: EffectProfile = {
  kind: 'read_only',
  destructive: false,
  effect_scope: 'closed',
  idempotency: 'intrinsic',
  reconciliation: 'none',
};
const WRITE: EffectProfile = { ...READ, kind: 'write', destructive: true, idempotency: 'none' };

const policy = (
  mode: ApprovalPolicy['mode'],
  rules: ApprovalRule[] = [],
  stewardRules: ApprovalRule[] = [],
): ApprovalPolicy => ({ mode, rules, stewardRules });

const verdict = (of: ApprovalPolicy, toolName: string, profile: EffectProfile, input: object = {}): string =>
  decide(of, { toolName, profile, input: input as Record<string, unknown> }).verdict;

describe('The mode of a run', () => {
  it.each([
    ['bypass', 'allow', 'allow'],
    ['ask', 'ask', 'allow'],
    ['rules', 'ask', 'allow'],
  ] as const)('%s: a write is %s, the rest %s, where no rule matches', (mode, write, rest) => {
    expect(verdict(policy(mode), 'bash', WRITE)).toBe(write);
    expect(verdict(policy(mode), 'read', READ)).toBe(rest);
    expect(verdict(policy(mode), 'sum', { ...READ, kind: 'pure' })).toBe(rest);
  });

  it('counts the run’s own rules in mode rules only', () => {
    const deny: ApprovalRule[] = [{ tool: 'bash', verdict: 'deny' }];
    expect(verdict(policy('rules', deny), 'bash', WRITE)).toBe('deny');
    expect(verdict(policy('bypass', deny), 'bash', WRITE)).toBe('allow');
    expect(verdict(policy('ask', deny), 'bash', WRITE)).toBe('ask');
  });
});

describe('The steward’s rules', () => {
  it.each(['bypass', 'ask', 'rules'] as const)('come first in mode %s', (mode) => {
    const own: ApprovalRule[] = [{ tool: '*', verdict: 'allow' }];
    const steward: ApprovalRule[] = [
      { tool: 'bash', verdict: 'deny', reason: 'not here' },
      { tool: 'write', verdict: 'allow' },
      { tool: 'read', verdict: 'ask' },
    ];
    const of = policy(mode, own, steward);
    expect(decide(of, { toolName: 'bash', profile: WRITE, input: {} })).toEqual({
      verdict: 'deny',
      origin: 'rule',
      reason: 'not here',
    });
    expect(verdict(of, 'write', WRITE)).toBe('allow');
    expect(verdict(of, 'read', READ)).toBe('ask');
  });

  it('leave what they do not name to the mode', () => {
    const of = policy('ask', [], [{ tool: 'other', verdict: 'allow' }]);
    expect(decide(of, { toolName: 'bash', profile: WRITE, input: {} })).toEqual({
      verdict: 'ask',
      origin: 'mode',
    });
  });
});

describe('A rule', () => {
  it('is the first that matches', () => {
    const of = policy('rules', [
      { tool: 'read_*', verdict: 'allow' },
      { tool: '*', verdict: 'deny' },
    ]);
    expect(verdict(of, 'read_file', WRITE)).toBe('allow');
    expect(verdict(of, 'write_file', WRITE)).toBe('deny');
  });

  it('names tools with * joined by |', () => {
    const of = policy('rules', [{ tool: 'ls|git_*|*_read', verdict: 'deny' }]);
    for (const name of ['ls', 'git_push', 'fs_read']) expect(verdict(of, name, READ)).toBe('deny');
    for (const name of ['ls2', 'git', 'read']) expect(verdict(of, name, READ)).toBe('allow');
  });

  it('may look at a value of the input by a dot path', () => {
    const of = policy('rules', [{ tool: 'write', path: 'file.path', match: '/tmp/*', verdict: 'allow' }]);
    expect(verdict(of, 'write', WRITE, { file: { path: '/tmp/a' } })).toBe('allow');
    expect(verdict(of, 'write', WRITE, { file: { path: '/etc/a' } })).toBe('ask');
    expect(verdict(of, 'write', WRITE, { file: 'x' })).toBe('ask');
    expect(verdict(of, 'write', WRITE, {})).toBe('ask');
  });

  it.each([
    [{ n: 12 }, 'n', '12'],
    [{ n: true }, 'n', 'true'],
    [{ n: null }, 'n', 'null'],
    [{ n: ['a', 'b'] }, 'n.1', 'b'],
    [{ n: { a: 1 } }, 'n', '{"a":1}'],
  ])('reads %j at %s as %j', (input, path, match) => {
    const of = policy('rules', [{ tool: '*', path, match, verdict: 'deny' }]);
    expect(verdict(of, 'any', READ, input)).toBe('deny');
  });

  it('reads no value that the input does not own', () => {
    const of = policy('rules', [{ tool: '*', path: 'constructor.name', match: '*', verdict: 'deny' }]);
    expect(verdict(of, 'any', READ, {})).toBe('allow');
  });

  it('may look at a part of the effect profile', () => {
    const of = policy('rules', [{ tool: '*', effect: { destructive: true }, verdict: 'deny' }]);
    expect(verdict(of, 'bash', WRITE)).toBe('deny');
    expect(verdict(of, 'bash', { ...WRITE, destructive: false })).toBe('ask');
  });

  it('looks at the input only where it names the tool and counts in this mode', () => {
    const rules: ApprovalRule[] = [{ tool: 'write', path: 'a', match: 'b', verdict: 'deny' }];
    expect(readsInput(policy('rules', rules), 'write')).toBe(true);
    expect(readsInput(policy('rules', rules), 'read')).toBe(false);
    expect(readsInput(policy('bypass', rules), 'write')).toBe(false);
    expect(readsInput(policy('bypass', [], rules), 'write')).toBe(true);
  });
});
