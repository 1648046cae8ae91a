import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startNats } from '../../src/launch/nats-server.mjs';
import { startPostgres } from '../../src/launch/postgres.mjs';

/** One PostgreSQL and one nats-server for all test files. They end with this process, however it ends: even by SIGKILL. */
export default async function setUp() {
  const dir = mkdtempSync(join(tmpdir(), 'nexus-test-'));
  const started = await Promise.allSettled([
    startPostgres({ dataDir: join(dir, 'postgres'), port: 0, mode: 'test' }),
    startNats({ dir: join(dir, 'nats'), port: 0 }),
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
  const [postgres, nats] = services;
  process.env.TEST_DATABASE_URL = postgres.url;
  process.env.TEST_NATS_URL = nats.url;
}
