import { describe, expect, it } from '@jest/globals';
import type { ServedTool } from '../announcement/announcement-directory.js';
import { FrozenDeclaration } from '../assembly/frozen-declaration.js';
import { KERNEL_TOOLS, type KernelTool } from '../kernel/catalogue.js';
import type { EffectProfile } from '../kernel/effect-profile.js';
import { entryDigest } from '../routing/announced-entry.js';
import type { ApprovalPolicy } from '../routing/approval-policy.js';
import type { DraftContext } from '../routing/task-draft.js';
import { kernelPlace, type Place } from '../routing/where-it-goes.js';
import { approvalVerdict, denialVerdict, retryVerdict } from './verdict.js';

const WRITE: EffectProfile = {
  kind: 'write',
  destructive: true,
  effect_scope: 'closed',
  idempotency: 'none',
  reconciliation: 'none',
};
const READ: EffectProfile = { ...WRITE, kind: 'read_only', destructive: false };

const entry = (profile: EffectProfile, description = '"Runs"'): ServedTool => ({
  name: 'bash',
  effectProfile: profile,
  effectProfileText: JSON.stringify(profile),
  descriptionText: description,
  inputSchemaText: '{"type":"object"}',
  modelVisible: true,
});

const place = (profile = WRITE, description?: string, fields: Partial<Place> = {}): Place => ({
  role: 'runner',
  toolName: 'bash',
  executorId: 'r1',
  announcementVersion: 3,
  delivery: 'claim',
  profile,
  profileText: JSON.stringify(profile),
  announcedTimeoutMs: undefined,
  entries: [entry(profile, description)],
  isOperatorCapability: false,
  ...fields,
});

const context = (policy: Partial<ApprovalPolicy> = {}, kind: 'human' | 'agent' = 'human'): DraftContext => ({
  declaration: FrozenDeclaration.read('[]', '{"runner_candidates":[]}'),
  defaultRunnerId: null,
  policy: { mode: 'ask', rules: [], stewardRules: [], ...policy },
  author: { kind, memberId: 'm1' },
});

const call = { path: 'task', inputText: '{"command":"ls"}', input: { command: 'ls' } };
const accepted = { ...call, announced_sha256: entryDigest([entry(WRITE)]), isOfAgent: true };
const byHuman = { approval_origin: 'human', approval_by: 'm1' };

describe('An approval', () => {
  it('lets the call go that rests with what is announced', () => {
    expect(approvalVerdict(accepted, place(), context())).toMatchObject({
      status: 'dispatched',
      effect_profile: null,
      announced_sha256: null,
      ...byHuman,
    });
  });

  it.each([
    ['its description', place(WRITE, '"Runs anything"')],
    ['its profile', place({ ...WRITE, effect_scope: 'open' })],
    ['its profile, to one that the policy would let go,', place(READ)],
  ])('lets the call rest again whose entry changed %s', (_name, found) => {
    expect(approvalVerdict(accepted, found, context())).toEqual({
      status: 'needs_approval',
      effect_profile: found.profileText,
      announced_sha256: entryDigest(found.entries),
      approval_origin: null,
      approval_by: null,
      error_key: null,
      error_detail: null,
      content: null,
      structured_content: null,
    });
  });

  it('asks the policy about the new entry, which may deny it', () => {
    const stewardRules = [
      { tool: 'bash', effect: { effect_scope: 'open' }, verdict: 'deny', reason: 'closed only' },
    ] as const;
    const opened = place({ ...WRITE, effect_scope: 'open' });
    expect(approvalVerdict(accepted, opened, context({ stewardRules }))).toMatchObject({
      status: 'failed',
      error_key: 'approval_denied',
      error_detail: 'closed only',
      approval_origin: 'rule',
      effect_profile: opened.profileText,
    });
  });

  it.each(['tool_not_served', 'executor_revoked'] as const)('of a call whose target is gone: %s', (gone) => {
    expect(approvalVerdict(accepted, gone, context())).toMatchObject({
      status: 'failed',
      error_key: gone,
      ...byHuman,
    });
  });

  it('never lets an agent’s call reach what became an operator capability', () => {
    const hidden = place(WRITE, undefined, { isOperatorCapability: true });
    expect(approvalVerdict(accepted, hidden, context())).toMatchObject({
      status: 'failed',
      error_key: 'tool_not_served',
    });
    expect(approvalVerdict({ ...accepted, isOfAgent: false }, hidden, context())).toMatchObject({
      status: 'dispatched',
    });
  });

  it('runs a kernel tool at once', () => {
    const found = kernelPlace(KERNEL_TOOLS[0] as KernelTool);
    expect(approvalVerdict({ ...accepted, announced_sha256: null }, found, context())).toMatchObject({
      status: 'completed',
      structured_content: '{"current_runner_executor_public_id":null,"runners":[]}',
      ...byHuman,
    });
  });
});

describe('A denial', () => {
  it.each(['not now', null])('fails the call with its reason %j', (reason) => {
    expect(denialVerdict('m1', reason)).toMatchObject({
      status: 'failed',
      error_key: 'approval_denied',
      error_detail: reason,
      ...byHuman,
    });
  });
});

describe('A retry', () => {
  it.each([
    ['ask', WRITE, 'needs_approval', null],
    ['ask', READ, 'dispatched', 'mode'],
    ['bypass', WRITE, 'dispatched', 'mode'],
  ] as const)(
    'in mode %s of what is announced now is judged as at acceptance',
    (mode, profile, status, origin) => {
      const found = place(profile);
      expect(retryVerdict(call, found, context({ mode }, 'agent'))).toMatchObject({
        status,
        effect_profile: found.profileText,
        announced_sha256: status === 'needs_approval' ? entryDigest(found.entries) : null,
        approval_origin: origin,
      });
    },
  );

  it('of an operator capability is granted to the person who retries', () => {
    const hidden = place(WRITE, undefined, { isOperatorCapability: true });
    expect(retryVerdict(call, hidden, context())).toMatchObject({ status: 'dispatched', ...byHuman });
  });

  it.each(['tool_not_served', 'executor_revoked'] as const)(
    'at a target that is gone fails again: %s',
    (gone) => {
      expect(retryVerdict(call, gone, context())).toMatchObject({
        status: 'failed',
        error_key: gone,
        approval_origin: null,
      });
    },
  );
});
