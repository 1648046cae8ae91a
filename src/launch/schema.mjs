/** `npm run schema`: runs the migrations on a throw-away PostgreSQL and writes (or with `--check` compares) what comes out. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from './postgres.mjs';

const dir = mkdtempSync(join(tmpdir(), 'nexus-schema-'));
const postgres = await startPostgres({ dataDir: join(dir, 'postgres'), port: 0, mode: 'test' });
const { status } = spawnSync(process.execPath, ['dist/src/cli/main.js', 'schema', ...process.argv.slice(2)], {
  env: { ...process.env, DATABASE_URL: postgres.url },
  stdio: 'inherit',
});
await postgres.stop();
for (const folder of [dir, postgres.data]) rmSync(folder, { recursive: true, force: true });
process.exit(status ?? 1);
