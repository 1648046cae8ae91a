import { describe, expect, it } from '@jest/globals';
import { FrozenDeclaration } from '../assembly/frozen-declaration.js';
import { KERNEL_TOOLS } from '../kernel/catalogue.js';
import type { EffectProfile } from '../kernel/effect-profile.js';
import type { TaskDraft } from './accept-tasks.sql.js';
import type { ApprovalPolicy } from './approval-policy.js';
import { draftTask } from './task-draft.js';
import type { Step } from './step.js';
import { kernelPlace, type Place } from './where-it-goes.js';

const WRITE: EffectProfile = {
  kind: 'write',
  destructive: true,
  effect_scope: 'open',
  idempotency: 'none',
  reconciliation: 'none',
};
const row = '{"runner_executor_public_id":"r1","display_name":"One","environment":{ "os":"linux" }}';
const declaration = FrozenDeclaration.read('[]', `{"runner_candidates":[${row}]}`);

const place = (fields: Partial<Place> = {}): Place => ({
  role: 'runner',
  toolName: 'bash',
  executorId: 'r1',
  announcementVersion: 3,
  delivery: 'claim',
  profile: WRITE,
  profileText: JSON.stringify(WRITE),
  announcedTimeoutMs: undefined,
  entries: [],
  isOperatorCapability: false,
  ...fields,
});

const draft = (
  options: {
    place?: Place;
    policy?: Partial<ApprovalPolicy>;
    timeoutMs?: number;
    inputText?: string;
    kind?: 'human' | 'agent' | 'kernel';
  } = {},
): TaskDraft => {
  const inputText = options.inputText ?? '{}';
  const step: Step = {
    kind: 'call',
    path: 'steps[0].call',
    name: 'alias',
    key: 'k',
    timeoutMs: options.timeoutMs,
    inputText,
    input: JSON.parse(inputText) as Record<string, unknown>,
    toolCallId: 'c1',
  };
  return draftTask(step, 0, options.place ?? place(), {
    declaration,
    defaultRunnerId: 'r1',
    policy: { mode: 'bypass', rules: [], stewardRules: [], ...options.policy },
    author: { kind: options.kind ?? 'agent', memberId: 'm1' },
  });
};

describe('The deadline of an accepted call', () => {
  it.each([
    [10, 20, 10, 20],
    [30, 20, 30, 30],
    [undefined, 20, 20, 20],
    [10, undefined, 10, 10],
    [undefined, undefined, 120_000, 3_600_000],
  ])('authored %s, announced %s is %s, and may be extended to %s', (authored, announced, timeout, bound) => {
    const drafted = draft({
      place: place({ announcedTimeoutMs: announced }),
      ...(authored === undefined ? {} : { timeoutMs: authored }),
    });
    expect(drafted).toMatchObject({ timeout_ms: timeout, extension_bound_ms: bound });
  });
});

describe('Approval at acceptance', () => {
  it('lets a call go and says what decided', () => {
    expect(draft()).toMatchObject({ status: 'dispatched', approval_origin: 'mode', approval_by: null });
  });

  it('makes a write rest in mode ask, undecided', () => {
    expect(draft({ policy: { mode: 'ask' } })).toMatchObject({
      status: 'needs_approval',
      approval_origin: null,
    });
  });

  it('settles a denied call with the reason', () => {
    const stewardRules = [{ tool: 'bash', verdict: 'deny', reason: 'not on Fridays' } as const];
    expect(draft({ policy: { stewardRules } })).toMatchObject({
      status: 'failed',
      error_key: 'approval_denied',
      error_detail: 'not on Fridays',
      approval_origin: 'rule',
    });
  });

  it('grants a person their operator capability, unless rules deny it', () => {
    const capability = { place: place({ isOperatorCapability: true }), kind: 'human' } as const;
    expect(draft({ ...capability, policy: { mode: 'ask' } })).toMatchObject({
      status: 'dispatched',
      approval_origin: 'human',
      approval_by: 'm1',
    });
    const stewardRules = [{ tool: '*', verdict: 'deny' } as const];
    expect(draft({ ...capability, policy: { stewardRules } })).toMatchObject({ status: 'failed' });
  });

  it('refuses an input that a rule and the runner could read differently', () => {
    const rules = [{ tool: 'bash', path: 'command', match: 'ls*', verdict: 'allow' } as const];
    const inputText = '{"command":"rm -rf /","command":"ls"}';
    expect(() => draft({ inputText, policy: { mode: 'rules', rules } })).toThrow(
      expect.objectContaining({ code: 'invalid_json' }),
    );
    expect(draft({ inputText }).tool_input).toBe(inputText);
  });
});

describe('A kernel tool', () => {
  const [runnersList] = KERNEL_TOOLS;

  it('is settled at acceptance with the frozen candidates, byte for byte', () => {
    if (!runnersList) throw new Error('no kernel tool');
    const drafted = draft({ place: kernelPlace(runnersList) });
    const expected = `{"current_runner_executor_public_id":"r1","runners":[${row}]}`;
    expect(drafted).toMatchObject({
      status: 'completed',
      addressed_role: 'kernel',
      tool_name: 'runners_list',
      structured_content: expected,
      content: JSON.stringify(expected),
    });
  });
});
