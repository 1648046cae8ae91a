import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Registration } from '../../src/runner/sdk/registration.js';
import { BusClient } from './bus-client.js';
import type { HttpAnswer, TestNode } from './node.js';

/** An account with its administrator. Everything below is made through the product's own doors. */
export interface TestAccount {
  readonly platformToken: string;
  readonly adminId: string;
}

export interface TestMember {
  readonly id: string;
  readonly token: string;
  readonly credentialId: string;
  readonly bus: TestBus<{ member: string; inbox_prefix: string }>;
}

/** `bus` of a registration's or a credential's answer. */
export interface TestBus<Subjects> {
  readonly servers: string[];
  readonly credentials: string | null;
  readonly subjects: Subjects;
}

export interface TestExecutor {
  readonly id: string;
  readonly token: string;
  readonly epoch: number;
  readonly subjects: { executor: string; work: string; tool: string; inbox_prefix: string };
  readonly bus: TestBus<TestExecutor['subjects']>;
  /** The answer whole, as a runner saves it. */
  readonly registration: Registration;
}

let counter = 0;

/** The account that the first start of the node made. */
export async function firstAccount(node: TestNode): Promise<TestAccount> {
  const platformToken = (await readFile(join(node.home, 'platform.secret'), 'utf8')).trim();
  return accountOf(node, platformToken);
}

/** The account behind a platform token. */
export async function accountOf(node: TestNode, platformToken: string): Promise<TestAccount> {
  const { body } = ok(await node.http('GET', '/platform_api/v1/humans', { token: platformToken }));
  const admin = (body as { humans: { public_id: string; role: string }[] }).humans.find(
    ({ role }) => role === 'admin',
  );
  if (!admin) throw new Error('The account has no administrator');
  return { platformToken, adminId: admin.public_id };
}

export async function newHuman(
  node: TestNode,
  account: TestAccount,
  fields: object = {},
): Promise<TestMember> {
  const body = { display_name: `Human ${(counter += 1)}`, ...fields };
  const answer = ok(
    await node.http('POST', '/platform_api/v1/humans', { token: account.platformToken, body }),
  );
  return withToken(node, account, (answer.body as { human: { public_id: string } }).human.public_id);
}

/** An agent; its steward is the account's administrator unless `fields` says otherwise. */
export async function newAgent(
  node: TestNode,
  account: TestAccount,
  fields: object = {},
): Promise<TestMember> {
  const body = { display_name: `Agent ${(counter += 1)}`, steward_public_id: account.adminId, ...fields };
  const answer = ok(
    await node.http('POST', '/platform_api/v1/agents', { token: account.platformToken, body }),
  );
  return withToken(node, account, (answer.body as { agent: { public_id: string } }).agent.public_id);
}

/** A member credential for any member, the administrator too. */
export async function withToken(node: TestNode, account: TestAccount, memberId: string): Promise<TestMember> {
  const path = `/platform_api/v1/members/${memberId}/credentials`;
  const answer = ok(await node.http('POST', path, { token: account.platformToken, body: { name: 'test' } }));
  const { credential, secret, bus } = answer.body as {
    credential: { public_id: string };
    secret: string;
    bus: TestMember['bus'];
  };
  return { id: memberId, token: secret, credentialId: credential.public_id, bus };
}

/** A runner; account-wide and managed by the administrator unless `fields` says otherwise. */
export async function newRunner(
  node: TestNode,
  account: TestAccount,
  fields: object = {},
): Promise<TestExecutor> {
  const name = `runner-${process.pid}-${(counter += 1)}`;
  return newExecutor(node, account, {
    kind: 'runner',
    display_name: name,
    manager_public_id: account.adminId,
    registration_identifier: name,
    assignment_scope: 'account_wide',
    ...fields,
  });
}

export async function newExecutor(node: TestNode, account: TestAccount, body: object): Promise<TestExecutor> {
  const answer = ok(
    await node.http('POST', '/platform_api/v1/executors', { token: account.platformToken, body }),
  );
  return executorOf(answer);
}

/** The executor that a registration answered. */
export function executorOf(answer: HttpAnswer): TestExecutor {
  const { executor, secret, bus } = answer.body as {
    executor: { public_id: string; credential_epoch: number };
    secret: string;
    bus: TestExecutor['bus'];
  };
  const { public_id: id, credential_epoch: epoch } = executor;
  const registration = answer.body as Registration;
  return { id, token: secret, epoch, subjects: bus.subjects, bus, registration };
}

/** An executor or a member on the bus, as its registration or credential says; with its token where that is the proof. */
export const onBus = ({ bus, token }: TestExecutor | TestMember): Promise<BusClient> =>
  BusClient.connect(bus, token);

export const READ_ONLY = {
  kind: 'read_only',
  destructive: false,
  effect_scope: 'closed',
  idempotency: 'intrinsic',
  reconciliation: 'none',
} as const;

export const WRITE = {
  kind: 'write',
  destructive: true,
  effect_scope: 'open',
  idempotency: 'none',
  reconciliation: 'none',
} as const;

/** A model-visible served tool. */
export const tool = (name: string, fields: object = {}): object => ({
  name,
  effect_profile: READ_ONLY,
  description: `The tool ${name}`,
  input_schema: { type: 'object' },
  ...fields,
});

/** Announces over REST. */
export async function announce(
  node: TestNode,
  executor: TestExecutor,
  tools: object[],
  fields: object = {},
): Promise<void> {
  const body = { tools, ...fields };
  ok(await node.http('PUT', '/agent_api/v1/executor/announcement', { token: executor.token, body }));
}

/** A run of the member, with the runner as its default and sole candidate. */
export async function newRun(
  node: TestNode,
  member: TestMember,
  runner: TestExecutor | null,
  fields: object = {},
): Promise<string> {
  const body = {
    default_runner_executor_public_id: runner?.id ?? null,
    configuration: { runner_executor_public_ids: runner ? [runner.id] : [] },
    ...fields,
  };
  const answer = ok(await node.http('POST', '/agent_api/v1/runs', { token: member.token, body }));
  return (answer.body as { run: { public_id: string } }).run.public_id;
}

/** Throws with the whole answer unless it is a success. */
export function ok(answer: HttpAnswer): HttpAnswer {
  if (answer.status >= 300) throw new Error(`${answer.status} ${answer.text}`);
  return answer;
}
