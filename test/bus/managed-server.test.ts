import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { BusConnections } from '../../src/bus/bus-connections.js';
import { BusKeys } from '../../src/bus/grants/bus-keys.js';
import { serverConfig } from '../../src/bus/grants/server-config.js';
import { createNode } from '../../src/create-node.js';
import type { Service } from '../../src/launch/child.mjs';
import { startNats } from '../../src/launch/nats-server.mjs';
import { connectRunner } from '../../src/runner/sdk/index.js';
import { until } from '../support/cluster.js';
import {
  accountOf,
  firstAccount,
  newHuman,
  newRunner,
  ok,
  onBus,
  READ_ONLY,
  type TestAccount,
  type TestMember,
} from '../support/factories.js';
import { createAccountAt } from '../../src/cli/create-account-at.js';
import { SERVERS } from '../support/database.js';
import { TestNode } from '../support/node.js';
import { isRefused } from './grant-probe.js';

const secret = BusKeys.newSecret();
let folder: string;
let server: Service;
let node: TestNode;
let account: TestAccount;

const startServer = (port: number): Promise<Service> =>
  startNats({
    dir: join(folder, 'nats'),
    port,
    configOf: (place) => serverConfig(new BusKeys(secret), place),
  });
const startAgain = async (): Promise<void> => void (server = await startServer(server.port));
const isUp = (at = node): boolean => at.app.get(BusConnections).isUp;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'nexus-managed-'));
  server = await startServer(0);
  node = await TestNode.start({ NATS_URL: server.url, NEXUS_BUS_KEYS: secret });
  account = await firstAccount(node);
});
afterAll(async () => {
  await node.close();
  await server.stop();
  await rm(folder, { recursive: true });
});

const revoke = async ({ credentialId }: TestMember): Promise<void> => {
  const path = `/platform_api/v1/credentials/${credentialId}`;
  ok(await node.http('DELETE', path, { token: account.platformToken }));
};

describe('The managed server', () => {
  it('that comes back without its folder of accounts is told of every account and revocation again', async () => {
    const runner = await newRunner(node, account);
    const revoked = await newHuman(node, account);
    await revoke(revoked);
    const second = await createAccountAt(node.env.DATABASE_URL ?? '', 'Second');
    const theirs = await newRunner(node, await accountOf(node, second.platformToken));
    await server.stop();
    await rm(join(folder, 'nats', 'jwt'), { recursive: true });
    await startAgain();
    await until(() => Promise.resolve(isUp()));
    for (const executor of [runner, theirs]) {
      const client = await onBus(executor);
      expect((await client.ask('describe')).status).toBe(200);
      await client.close();
    }
    expect(await isRefused(revoked.bus)).toBe(true);
  });

  it('that was down when users were revoked refuses them when it is back', async () => {
    const revoked = await newHuman(node, account);
    const spared = await newHuman(node, account);
    await server.stop();
    await until(() => Promise.resolve(!isUp()));
    await revoke(revoked);
    await startAgain();
    await until(() => isRefused(revoked.bus));
    expect(await isRefused(spared.bus)).toBe(false);
  });

  it('that was down when an account got its first user serves it when it is back', async () => {
    const { platformToken } = await createAccountAt(node.env.DATABASE_URL ?? '', 'Born offline');
    const born = await accountOf(node, platformToken);
    await server.stop();
    await until(() => Promise.resolve(!isUp()));
    const runner = await newRunner(node, born);
    await startAgain();
    await until(() => isRefused(runner.bus).then((refused) => !refused));
    await until(() => Promise.resolve(isUp()));
    const client = await onBus(runner);
    await until(async () => (await client.ask('describe')).status === 200);
    await client.close();
  });

  it('lets nobody in whom other keys have signed, nor who has none', async () => {
    const strange = await TestNode.start({ NEXUS_BUS_AUTH: 'managed' });
    const human = await newHuman(strange, await firstAccount(strange));
    expect(await isRefused({ ...human.bus, servers: [server.url] })).toBe(true);
    await strange.close();
  });
});

describe('A node whose NATS lets everybody in', () => {
  it('does not use it, and says what to do', async () => {
    const said = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
    const env = { ...node.env, NATS_URL: SERVERS.openNats };
    const app = await createNode(env);
    await app.listen(0, '127.0.0.1');
    const isSaid = (): boolean =>
      said.mock.calls.some(([text]) => String(text).includes('lets everybody in'));
    await until(() => Promise.resolve(isSaid()));
    expect((await app.inject('/readyz')).statusCode).toBe(503);
    await app.close();
    said.mockRestore();
  });
});

describe('A runner of the SDK', () => {
  it('keeps serving across a restart of the server, and says so when it is registered anew elsewhere', async () => {
    const fields = { registration_identifier: 'sdk' };
    const body = ok(
      await node.http('POST', '/platform_api/v1/executors', {
        token: account.platformToken,
        body: {
          kind: 'runner',
          display_name: 'sdk',
          manager_public_id: account.adminId,
          assignment_scope: 'account_wide',
          ...fields,
        },
      }),
    ).body;
    const said: string[] = [];
    const runner = await connectRunner({
      registration: body,
      log: (level, message) => void said.push(`${level} ${message}`),
    });
    await runner.announce({
      tools: [{ name: 'noop', effect_profile: READ_ONLY, handler: () => Promise.resolve('done') }],
    });
    await server.stop();
    await startAgain();
    await until(() => Promise.resolve(said.includes('info the connection to NATS is back')));
    await until(() => Promise.resolve(isUp()));
    await newRunner(node, account, fields);
    await until(() => Promise.resolve(said.some((line) => line.includes('Ask to be paired again'))));
    await runner.close();
  });

  it('that starts with credentials which are refused gives up after a while, as with a bad secret', async () => {
    const fields = { registration_identifier: 'late' };
    const late = await newRunner(node, account, fields);
    await newRunner(node, account, fields);
    await expect(connectRunner({ registration: late.registration })).rejects.toMatchObject({
      code: 'unauthorized',
      status: 401,
    });
  }, 40_000);
});
