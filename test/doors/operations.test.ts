import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readEnv, settingRows } from '../../src/config/env.js';
import { firstAccount, newAgent, newRun, newRunner, type TestAccount } from '../support/factories.js';
import { TestNode } from '../support/node.js';

describe('Operations', () => {
  let node: TestNode;
  let account: TestAccount;
  beforeAll(async () => {
    node = await TestNode.start({ DATABASE_POOL_MAX: '4' });
    account = await firstAccount(node);
  });
  afterAll(() => node.close());

  it('a node with its database and bus is ready', async () => {
    expect(await node.http('GET', '/readyz')).toMatchObject({
      status: 200,
      body: { status: 'ok', database: 'up', bus: 'up' },
    });
  });

  it('metrics say how calls, the bus and the pool are, and name nobody', async () => {
    const { text, headers } = await node.http('GET', '/metrics');
    expect(headers['content-type']).toContain('text/plain');
    for (const name of [
      'nexus_calls_settled_total',
      'nexus_call_step_seconds',
      'nexus_bus_up',
      'nexus_pool_waiting',
    ]) {
      expect(text).toContain(name);
    }
    expect(text).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-7/);
  });

  it('a small pool under many transactions that read through caches does not lock itself up', async () => {
    const runner = await newRunner(node, account);
    const agents = await Promise.all(Array.from({ length: 16 }, () => newAgent(node, account)));
    const runs = await Promise.all(agents.map((agent) => newRun(node, agent, runner)));
    expect(new Set(runs).size).toBe(16);
  });

  it('settings that do not parse stop the start, each named', () => {
    expect(() => readEnv({ NEXUS_HTTP_PORT: 'seven', LOG_LEVEL: 'loud' })).toThrow(
      /LOG_LEVEL .*NEXUS_HTTP_PORT /,
    );
  });

  it('the README’s table of settings is the program’s', async () => {
    const readme = await readFile('README.md', 'utf8');
    const [, table = ''] = readme.split(/<!-- \/?settings -->/);
    const rows = table
      .split('\n')
      .filter((line) => line.startsWith('| `'))
      .map((line) =>
        line
          .split('|')
          .map((cell) => cell.trim().replaceAll('`', ''))
          .slice(1, 4),
      );
    const expected = settingRows().map(({ name, fallback, meaning }) => [
      name,
      fallback,
      meaning.replaceAll('`', ''),
    ]);
    expect(rows).toEqual(expected);
  });
});
