import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { announce, firstAccount, newRunner, tool } from '../support/factories.js';
import { TestNode } from '../support/node.js';
import { answerAs, type Answerer, serviceOf } from './stage.js';

let node: TestNode;
let home: string;
let answerer: Answerer;

beforeAll(async () => {
  node = await TestNode.start();
  const account = await firstAccount(node);
  const [runner, gone] = [
    await newRunner(node, account, { machine: 'build-box' }),
    await newRunner(node, account, { machine: 'attic' }),
  ];
  for (const executor of [runner, gone]) await announce(node, executor, [tool('ls')]);
  answerer = await answerAs(runner, serviceOf(runner, ['ls']));
  home = await mkdtemp(join(tmpdir(), 'nexus-mesh-'));
  await writeFile(join(home, 'ready.json'), JSON.stringify({ http_url: `${node.url}/` }));
  await writeFile(join(home, 'platform.secret'), `${account.platformToken}\n`);
});

afterAll(async () => {
  await answerer?.stop();
  await node?.close();
  await rm(home, { recursive: true, force: true });
});

/** Runs `nexus mesh`; `enough` says when its output is, and it is interrupted. */
async function mesh(
  args: string[],
  { folder = home, enough }: { folder?: string; enough?: (out: string) => boolean } = {},
): Promise<{ out: string; err: string; code: number | null }> {
  const child = spawn(process.execPath, ['dist/src/cli/main.js', 'mesh', ...args], {
    env: { PATH: process.env['PATH'], NEXUS_HOME: folder },
  });
  const said = { out: '', err: '' };
  child.stdout.on('data', (data: Buffer) => {
    said.out += data.toString();
    if (enough?.(said.out)) child.kill('SIGINT');
  });
  child.stderr.on('data', (data: Buffer) => (said.err += data.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { ...said, code };
}

describe('nexus mesh', () => {
  it('prints the fleet of the Nexus that runs from NEXUS_HOME as a table', async () => {
    const { out, code } = await mesh([]);
    expect(code).toBe(0);
    expect(out).toMatch(/^MACHINE +SERVICE +STATE +TOOLS\n/);
    expect(out).toMatch(/^build-box +tools +answering +ls$/m);
    expect(out).toMatch(/^attic +tools +NOT ANSWERING +last seen /m);
    expect(out).toMatch(/^nexus-\S+ +nexus-console +answering +call machines services tools describe$/m);
    expect(out).toMatch(/1 not answering, 0 unexpected, 0 malformed\.\n$/);
  });

  it('prints the answer of the API with --json, of any Nexus with --url and --secret-file', async () => {
    const elsewhere = ['--url', node.url, '--secret-file', join(home, 'platform.secret'), '--json'];
    const { out } = await mesh(elsewhere, { folder: tmpdir() });
    expect(JSON.parse(out)).toMatchObject({ malformed: 0, not_answering: [{ machine: 'attic' }] });
  });

  it('looks again and again with --watch', async () => {
    const looks = (out: string): number => out.split('\n').filter((line) => line !== '').length;
    const { out } = await mesh(['--watch', '--json'], { enough: (said) => looks(said) === 2 });
    const [first, second] = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { asked_at: string });
    expect(Date.parse(second?.asked_at ?? '')).toBeGreaterThan(Date.parse(first?.asked_at ?? ''));
  });

  it.each([
    ['which Nexus', [], /^nexus: which Nexus\? .*--url.*NEXUS_HOME/],
    ['which secret', ['--url', 'http://127.0.0.1:1'], /^nexus: name the file of a platform secret/],
  ])('says what to do where it is not told %s', async (_, args, expected) => {
    const { err, code } = await mesh(args, { folder: '/nowhere' });
    expect([code, err]).toEqual([1, expect.stringMatching(expected)]);
  });

  it('says that Nexus is out of reach, or refuses', async () => {
    expect((await mesh(['--url', 'http://127.0.0.1:1'])).err).toMatch(/^nexus: .* is out of reach/);
    const wrong = join(home, 'wrong.secret');
    await writeFile(wrong, 'nxp_none');
    const refused = await mesh(['--secret-file', wrong]);
    expect(refused.err).toMatch(/answered 401: .*unauthorized/);
    expect(refused.err).not.toContain('nxp_none');
  });
});
