import { describe, expect, it } from '@jest/globals';
import type { AnnouncementRecord, ServedTool } from '../announcement/announcement-directory.js';
import { FrozenDeclaration } from '../assembly/frozen-declaration.js';
import type { AccountId } from '../db/account-id.js';
import { JsonText } from '../db/json-text.js';
import { Refusal } from '../errors/refusal.js';
import type { EffectProfile } from '../kernel/effect-profile.js';
import { poolTool } from './pool-tool.js';
import type { DirectStep } from './step.js';
import { addressOf, kernelPlace, namedPlace, runnerPlace, type Serving } from './where-it-goes.js';

const RUNNER = '01990000-0000-7000-8000-000000000001';
const OTHER = '01990000-0000-7000-8000-000000000002';

const READ: EffectProfile = {
  kind: 'read_only',
  destructive: false,
  effect_scope: 'closed',
  idempotency: 'intrinsic',
  reconciliation: 'none',
};
const WRITE: EffectProfile = {
  kind: 'write',
  destructive: true,
  effect_scope: 'open',
  idempotency: 'none',
  reconciliation: 'none',
};

const declaration = FrozenDeclaration.read(
  JSON.stringify([
    {
      type: 'function',
      function: { name: 'remote_read', parameters: {} },
      route: { kind: 'runner', runner_executor_public_id: RUNNER, tool_name: 'read' },
    },
    { type: 'function', function: { name: 'who', parameters: {} }, canonical: 'nexus.runners.list' },
    { type: 'function', function: { name: 'send_mail', parameters: {} } },
    { type: 'function', function: { name: 'memory_read', parameters: {} } },
  ]),
  '{"default_runner_executor_public_id":null,"executors":[],"runner_candidates":[]}',
);

const step = (kind: 'call' | 'tool', name: string, route?: { runnerId: string | undefined }): DirectStep => {
  const any = {
    path: `steps[0].${kind}`,
    name,
    key: undefined,
    timeoutMs: undefined,
    inputText: '{}',
    input: {},
  };
  return kind === 'call' ? { ...any, kind, toolCallId: undefined } : { ...any, kind, route };
};

const served = (name: string, fields: Partial<ServedTool> = {}): ServedTool => {
  const effectProfile = fields.effectProfile ?? READ;
  return {
    name,
    effectProfile,
    effectProfileText: JSON.stringify(effectProfile),
    modelVisible: true,
    ...fields,
  };
};

const announcement = (
  executorId: string,
  tools: ServedTool[],
  documents: AnnouncementRecord['documents'] = [],
): AnnouncementRecord => ({
  executorId,
  accountId: 'account' as AccountId,
  version: 3,
  tools: new Map(tools.map((tool) => [tool.name, tool])),
  environment: new JsonText('{}'),
  documents,
  documentsText: new JsonText(JSON.stringify(documents)),
  delivery: 'claim',
  maxInFlight: 16,
  instanceId: null,
  announcedAt: new Date(0),
});

const serving = (executorId: string, tools: ServedTool[], eligible = true): Serving => ({
  executorId,
  announcement: announcement(executorId, tools),
  eligible,
});

const codeOf = (act: () => unknown): string => {
  try {
    act();
  } catch (fault) {
    if (fault instanceof Refusal) return fault.code;
    throw fault;
  }
  return 'accepted';
};

const run = { declaration, isContinuation: false };
const child = { declaration, isContinuation: true };

describe('What a step addresses', () => {
  it('is for a model’s call what its declaration froze', () => {
    expect(addressOf(step('call', 'remote_read'), run, null)).toEqual({
      to: 'runner',
      runnerId: RUNNER,
      toolName: 'read',
    });
    expect(addressOf(step('call', 'who'), run, null)).toMatchObject({
      to: 'kernel',
      tool: { name: 'runners_list' },
    });
    expect(addressOf(step('call', 'send_mail'), run, null)).toEqual({ to: 'name', toolName: 'send_mail' });
  });

  it('is for a route with a UUID that runner, for one without the current default', () => {
    const addressed = (runnerId: string | undefined, fallback: string | null): unknown =>
      addressOf(step('tool', 'read', { runnerId }), run, fallback);
    expect(addressed(RUNNER, OTHER)).toEqual({ to: 'runner', runnerId: RUNNER, toolName: 'read' });
    expect(addressed(undefined, OTHER)).toEqual({ to: 'runner', runnerId: OTHER, toolName: 'read' });
    expect(codeOf(() => addressed(undefined, null))).toBe('runner_target_required');
  });

  it.each(['runners_list', 'nexus.runners.list'])('is the kernel for %s without a route', (name) => {
    expect(addressOf(step('tool', name), run, null)).toMatchObject({ to: 'kernel' });
  });

  it.each([
    ['call', 'unknown', 'tool_not_declared'],
    ['call', 'read', 'tool_not_declared'],
    ['call', 'memory_read', 'accepted'],
    ['tool', 'memory_read', 'accepted'],
    ['tool', 'nexus.memory.read', 'tool_not_served'],
    ['tool', 'nexus.anything', 'tool_not_served'],
    ['tool', 'no such name', 'tool_not_served'],
    ['tool', '', 'tool_not_served'],
    ['tool', 'read', 'accepted'],
  ] as const)('{%s} %j is %s', (kind, name, expected) => {
    expect(codeOf(() => addressOf(step(kind, name), run, null))).toBe(expected);
  });

  it.each([
    ['read', { runnerId: RUNNER }, 'accepted'],
    ['read', { runnerId: OTHER }, 'route_mismatch'],
    ['write', { runnerId: RUNNER }, 'route_mismatch'],
    ['send_mail', undefined, 'accepted'],
    ['runners_list', undefined, 'accepted'],
    ['remote_read', undefined, 'route_mismatch'],
    ['other', undefined, 'route_mismatch'],
  ])('in a continuation {tool} %s at %j is %s', (name, route, expected) => {
    expect(codeOf(() => addressOf(step('tool', name, route), child, null))).toBe(expected);
  });
});

describe('The place at a runner', () => {
  const tools = [
    served('read'),
    served('files_bytes', { modelVisible: false }),
    served('skill', { modelVisible: false }),
  ];
  const known = announcement(RUNNER, tools, [{ name: 'guide', description: 'A guide' }]);

  it.each([
    ['read', true, 'agent', 'accepted'],
    ['read', false, 'agent', 'runner_not_eligible'],
    ['write', true, 'human', 'tool_not_served'],
    ['write', false, 'human', 'runner_not_eligible'],
    ['files_bytes', true, 'agent', 'person_required'],
    ['files_bytes', false, 'agent', 'runner_not_eligible'],
    ['files_bytes', true, 'human', 'accepted'],
    ['skill', true, 'agent', 'accepted'],
  ] as const)('%s, eligible %s, for a %s is %s', (name, eligible, kind, expected) => {
    const act = (): unknown => runnerPlace(step('tool', name), name, { announcement: known, eligible }, kind);
    expect(codeOf(act)).toBe(expected);
  });

  it('is nowhere while the runner never announced', () => {
    const act = (): unknown =>
      runnerPlace(step('tool', 'read'), 'read', { announcement: undefined, eligible: true }, 'human');
    expect(codeOf(act)).toBe('tool_not_served');
  });

  it('freezes what is announced, and at which version', () => {
    const place = runnerPlace(step('call', 'r'), 'read', { announcement: known, eligible: true }, 'agent');
    expect(place).toMatchObject({
      role: 'runner',
      executorId: RUNNER,
      announcementVersion: 3,
      profile: READ,
    });
  });

  it('is an operator capability for skill without documents', () => {
    const bare = announcement(RUNNER, tools);
    const act = (): unknown =>
      runnerPlace(step('tool', 'skill'), 'skill', { announcement: bare, eligible: true }, 'agent');
    expect(codeOf(act)).toBe('person_required');
  });
});

describe('The place of a bare name', () => {
  const place = (application: Serving | undefined, providers: Serving[], kind: 'human' | 'agent' = 'agent') =>
    namedPlace(step('tool', 'send_mail'), 'send_mail', { application, providers }, kind);

  it('is the declaring agent’s application before any provider', () => {
    const application = serving(RUNNER, [served('send_mail')]);
    expect(place(application, [serving(OTHER, [served('send_mail')])])).toMatchObject({
      role: 'agent_application',
      executorId: RUNNER,
      announcementVersion: 3,
    });
  });

  it('is not the pool while the application has the name and may not serve it', () => {
    const application = serving(RUNNER, [served('send_mail')], false);
    expect(codeOf(() => place(application, [serving(OTHER, [served('send_mail')])]))).toBe('tool_not_served');
  });

  it('is else the pool, which has a role and no executor', () => {
    expect(place(undefined, [serving(OTHER, [served('send_mail')])])).toMatchObject({
      role: 'tool_provider',
      executorId: null,
      announcementVersion: null,
    });
  });

  it.each([
    ['nobody', []],
    ['only an ineligible provider', [serving(OTHER, [served('send_mail')], false)]],
  ])('is nowhere with %s', (_, providers) => {
    expect(codeOf(() => place(undefined, providers))).toBe('tool_not_served');
  });

  it('is for people only as soon as one provider describes it to nobody', () => {
    const providers = [
      serving(OTHER, [served('send_mail')]),
      serving(RUNNER, [served('send_mail', { modelVisible: false })]),
    ];
    expect(codeOf(() => place(undefined, providers))).toBe('person_required');
    expect(place(undefined, providers, 'human')).toMatchObject({ isOperatorCapability: true });
  });
});

describe('The tool of a pool', () => {
  it('has in every key the worst that a provider announced, and the longest timeout', () => {
    const mixed: EffectProfile = { ...READ, idempotency: 'keyed', reconciliation: 'lookup' };
    const tool = poolTool(
      [
        announcement(RUNNER, [served('t', { effectProfile: mixed, timeoutMs: 5 })]),
        announcement(OTHER, [served('t', { effectProfile: WRITE, timeoutMs: 50 })]),
      ],
      't',
    );
    expect(tool).toMatchObject({ profile: WRITE, announcedTimeoutMs: 50 });
    expect(JSON.parse(tool?.profileText ?? '')).toEqual(WRITE);
  });

  it('keeps the announced text where all agree', () => {
    const spelled = served('t', { effectProfileText: '{ "kind" : "read_only" }' });
    expect(
      poolTool([announcement(RUNNER, [spelled]), announcement(OTHER, [spelled])], 't')?.profileText,
    ).toBe('{ "kind" : "read_only" }');
  });
});

describe('The place of a kernel tool', () => {
  it('has no executor', () => {
    const address = addressOf(step('tool', 'runners_list'), run, null);
    if (address.to !== 'kernel') throw new Error('not the kernel');
    expect(kernelPlace(address.tool)).toMatchObject({ role: 'kernel', executorId: null, profile: READ });
  });
});
