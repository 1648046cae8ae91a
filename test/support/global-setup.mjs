import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startNats } from '../../src/launch/nats-server.mjs';
import { startPostgres } from '../../src/launch/postgres.mjs';

/**
 * One PostgreSQL, one managed nats-server and an open one (token mode) for all test files. They end with this process,
 * however it ends: even by SIGKILL. Files share the keys of the bus; the accounts of each database are its own.
 */
export default async function setUp() {
  // what configures the server is compiled code
  execFileSync(process.execPath, ['src/launch/bootstrap.mjs', 'build'], { stdio: 'inherit' });
  const { BusKeys } = await import('../../dist/src/bus/grants/bus-keys.js');
  const { serverConfig } = await import('../../dist/src/bus/grants/server-config.js');
  const secret = BusKeys.newSecret();
  const configOf = (place) => serverConfig(new BusKeys(secret), place);
  const dir = mkdtempSync(join(tmpdir(), 'nexus-test-'));
  const started = await Promise.allSettled([
    startPostgres({ dataDir: join(dir, 'postgres'), port: 0, mode: 'test' }),
    startNats({ dir: join(dir, 'nats'), port: 0, configOf }),
    startNats({ dir: join(dir, 'open-nats'), port: 0, configOf: (place) => serverConfig(undefined, place) }),
  ]);
  const services = started.filter(({ status }) => status === 'fulfilled').map(({ value }) => value);
  const removeAll = () => {
    for (const folder of [dir, ...services.map(({ data }) => data ?? dir)])
      rmSync(folder, { recursive: true, force: true });
  };
  process.once('exit', () => {
    for (const service of services) service.kill();
    removeAll();
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1));
  globalThis.stopTestServices = async () => {
    for (const service of services) await service.stop();
    removeAll();
  };
  const failed = started.find(({ status }) => status === 'rejected');
  if (failed) throw failed.reason;
  const [postgres, nats, openNats] = services;
  process.env.TEST_DATABASE_URL = postgres.url;
  process.env.TEST_NATS_URL = nats.url;
  process.env.TEST_OPEN_NATS_URL = openNats.url;
  process.env.TEST_BUS_KEYS = secret;
}
