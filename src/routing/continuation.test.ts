import { describe, expect, it } from '@jest/globals';
import { freeze } from '../assembly/declaration.js';
import type { AccountId } from '../db/account-id.js';
import { Refusal } from '../errors/refusal.js';
import { planContinuation, type RunPlan } from './continuation.js';
import { asStored } from './declaration-store.js';
import { FrozenRun } from './frozen-run.js';
import type { RunRequest } from './run-request.js';

const RUNNER = '01990000-0000-7000-8000-000000000001';
const OTHER = '01990000-0000-7000-8000-000000000002';

const definition = (name: string): string =>
  `{ "type":"function","function":{"name":"${name}","parameters":{}}}`;
const inherited = asStored(
  freeze(
    `[${definition('a')},${definition('b')}]`,
    `{"default_runner_executor_public_id":"${RUNNER}","runner_candidates":[]}`,
  ),
);
const parent = new FrozenRun({
  id: 'parent',
  account_id: 'account' as AccountId,
  principal_id: 'agent',
  steward_id: 'steward',
  conversation_id: 'conversation',
  parent_run_id: null,
  default_runner_id: RUNNER,
  declaration_digest: Buffer.alloc(32),
  approval_mode: 'rules',
  approval_rules_text: '[{"tool":"a","verdict":"deny"}]',
  steward_rules_text: '[]',
  details_pruned_at: null,
});

const plan = (request: Omit<RunRequest, 'steps'>): RunPlan =>
  planContinuation({ steps: [], ...request }, parent, inherited);

describe('A continuation child', () => {
  it('copies declaration, default, conversation and policy', () => {
    const child = plan({});
    expect(child).toMatchObject({
      conversationId: 'conversation',
      parentId: 'parent',
      defaultRunnerId: RUNNER,
      approvalMode: 'rules',
      approvalRulesText: '[{"tool":"a","verdict":"deny"}]',
    });
    expect(child.declaration.toolDefinitions.text).toBe(inherited.toolDefinitions.text);
    expect(child.declaration.environment.text).toBe(inherited.environment.text);
  });

  it('may keep fewer callables, each as it was frozen', () => {
    expect(plan({ toolNames: ['b'] }).declaration.toolDefinitions.text).toBe(`[${definition('b')}]`);
    expect(plan({ toolNames: [] }).declaration.toolDefinitions.text).toBe('[]');
  });

  it('may be stricter', () => {
    expect(plan({ approvalMode: 'ask' }).approvalMode).toBe('ask');
  });

  it('may repeat what is its parent’s', () => {
    expect(() =>
      plan({ conversationId: 'conversation', defaultRunnerId: RUNNER, approvalMode: 'rules' }),
    ).not.toThrow();
  });

  it.each<[string, Omit<RunRequest, 'steps'>]>([
    ['a callable more', { toolNames: ['a', 'c'] }],
    ['a looser mode', { approvalMode: 'bypass' }],
    ['another default', { defaultRunnerId: OTHER }],
    ['no default', { defaultRunnerId: null }],
    ['another conversation', { conversationId: 'elsewhere' }],
    ['a configuration', { configuration: { text: '{}' } }],
    ['rules of its own', { approvalRulesText: '[]' }],
  ])('with %s is route_mismatch', (_, request) => {
    expect(() => plan(request)).toThrow(Refusal);
    expect(() => plan(request)).toThrow(expect.objectContaining({ code: 'route_mismatch' }));
  });
});
