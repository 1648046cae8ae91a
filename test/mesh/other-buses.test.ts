import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { OwnNatsServer } from '../runner/own-nats-server.js';
import { secondAccount } from '../discovery/second-account.js';
import { until } from '../support/cluster.js';
import {
  announce,
  firstAccount,
  newAgent,
  newRunner,
  type TestAccount,
  type TestExecutor,
  tool,
} from '../support/factories.js';
import { TestNode } from '../support/node.js';
import { taskNow } from '../work/stage.js';
import { consoleRun } from './console-doors.js';
import { type Answerer, answerAs, answering, meshOf, reasonsOf, serviceOf } from './stage.js';
import { accept, callStep, outcome, taskOf } from '../routing/stage.js';

let nats: OwnNatsServer;
let node: TestNode;
let account: TestAccount;
let second: TestAccount;
let mine: TestExecutor;
let theirs: TestExecutor;
const answerers: Answerer[] = [];

beforeAll(async () => {
  nats = await OwnNatsServer.start();
  node = await TestNode.start({ NEXUS_BUS_AUTH: 'token', NATS_URL: nats.url });
  account = await firstAccount(node);
  second = await secondAccount(node);
  mine = await newRunner(node, account, { machine: 'mine' });
  theirs = await newRunner(node, second, { machine: 'theirs' });
  for (const executor of [mine, theirs]) {
    await announce(node, executor, [tool('ls')]);
    answerers.push(await answerAs(executor, serviceOf(executor, ['ls'])));
  }
});

afterAll(async () => {
  for (const answerer of answerers) await answerer.stop();
  await node?.close();
  await nats?.stop();
});

describe('On a bus that Nexus does not manage, which carries all accounts', () => {
  it('nothing of another account’s executors is shown', async () => {
    const [ours, others] = [await meshOf(node, account), await meshOf(node, second)];
    expect(answering(ours)).toEqual([mine.id]);
    expect(answering(others)).toEqual([theirs.id]);
    expect(ours.unexpected).toEqual([]);
    expect(JSON.stringify(ours)).not.toContain(theirs.id);
    expect(JSON.stringify(others)).not.toContain(mine.id);
  });

  it('what nobody knows is unexpected', async () => {
    const stranger = await answerAs(mine, serviceOf(mine, ['ls'], { id: 'stranger' }));
    const mesh = await meshOf(node, account);
    await stranger.stop();
    expect(reasonsOf(mesh, 'stranger')).toEqual(['there is no record of it']);
    expect(answering(mesh)).toEqual([mine.id]);
  });
});

describe('While the bus is lost', () => {
  it('the mesh is unavailable, promptly, a model is told so, and it recovers by itself', async () => {
    const agent = await newAgent(node, account, { approval_floor: 'bypass' });
    const run = await consoleRun(node, agent);
    await nats.stop();
    await until(async () => (await node.http('GET', '/readyz')).status === 503);
    const started = performance.now();
    const path = '/platform_api/v1/mesh';
    const refused = await node.http('GET', path, { token: account.platformToken });
    expect(outcome(refused)).toBe('503 unavailable');
    expect(refused.headers['retry-after']).toBe('1');
    expect(performance.now() - started).toBeLessThan(4_000);
    const task = taskOf(await accept(node, agent, run, [callStep('mesh_machines')]));
    expect(await taskNow(node, agent, task, 10_000)).toMatchObject({
      status: 'failed',
      error: { key: 'tool_failed', detail: expect.stringMatching(/^unavailable: /) },
    });
    await nats.startAgain();
    await until(async () => (await node.http('GET', '/readyz')).status === 200);
    expect((await meshOf(node, account)).machines).toHaveLength(1);
  });
});
