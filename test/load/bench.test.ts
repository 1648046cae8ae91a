import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

const LIMIT_MS = 180_000;
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'nexus-bench-test-'));
  // PostgreSQL's own account passes through
  await chmod(folder, 0o755);
});

afterEach(() => rm(folder, { recursive: true, force: true }));

/** A run whose stage lies in a folder of ours. */
function bench(...options: string[]): { child: ChildProcess; output: () => string } {
  const child = spawn(process.execPath, ['test/load/bench.mjs', ...options], {
    env: { ...process.env, TMPDIR: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
  return { child, output: () => said };
}

const stages = async () => (await readdir(folder)).filter((name) => name.startsWith('nexus-bench-'));

describe('npm run bench', () => {
  test(
    'measures Nexus beside its peers, keeps the result and leaves nothing behind',
    async () => {
      const out = join(folder, 'out');
      const few = ['--rounds', '1', '--seconds', '0.2', '--warm-up', '10'];
      const { child, output } = bench('--quick', ...few, '--out', out);
      const [code] = await once(child, 'exit');
      expect({ code, output: output() }).toEqual({
        code: 0,
        output: expect.stringContaining('rest_over_bus'),
      });
      const { machine, at, rows, ratios } = JSON.parse(await readFile(join(out, 'latest.json'), 'utf8'));
      expect(machine).toMatchObject({ cores: expect.any(Number), postgres: expect.any(String) });
      expect(new Date(at).getTime()).toBeLessThan(Date.now());
      const claim = rows.find(({ name }: { name: string }) => name === 'Nexus over the bus, claim');
      expect(claim).toMatchObject({
        in_flight: 64,
        calls_per_s: expect.any(Number),
        p50_ms: expect.any(Number),
        p99_ms: expect.any(Number),
        cpu_us: expect.any(Number),
        nexus_cpu_us: expect.any(Number),
      });
      const naive = rows.find(({ name }: { name: string }) => name === 'naive pipeline');
      expect(Math.round(naive.commits)).toBe(2);
      expect(ratios.claim_bus_over_batched_claim).toBeCloseTo(
        claim.calls_per_s /
          rows.find(({ name }: { name: string }) => name === 'batched claim pipeline').calls_per_s,
        1,
      );
      expect(await stages()).toEqual([]);
    },
    LIMIT_MS,
  );

  test(
    'removes what it brought up when it is interrupted',
    async () => {
      const { child, output } = bench('--quick');
      while (!output().includes('Warming'))
        await Promise.race([once(child.stdout!, 'data'), once(child, 'exit')]);
      expect(await stages()).toHaveLength(1);
      child.kill('SIGINT');
      const [code] = await once(child, 'exit');
      expect(code).toBe(130);
      expect(await stages()).toEqual([]);
    },
    LIMIT_MS,
  );
});
