import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connectRunner, type Runner, type ServedTool } from '../../src/runner/sdk/index.js';
import { callStep } from '../routing/stage.js';
import type { BusClient } from '../support/bus-client.js';
import {
  announce,
  firstAccount,
  newAgent,
  newRunner,
  onBus,
  READ_ONLY,
  type TestAccount,
  type TestExecutor,
  type TestMember,
  tool,
} from '../support/factories.js';
import { TestNode } from '../support/node.js';
import { parked, taskNow } from '../work/stage.js';
import { consoleRun, taskOfCall } from './console-doors.js';
import { answering, meshOf, missed, reasonsOf } from './stage.js';

let node: TestNode;
let account: TestAccount;
let agent: TestMember;
let executor: TestExecutor;
let runner: Runner;

const served = (name: string, fields: Partial<ServedTool> = {}): ServedTool => ({
  name,
  effect_profile: READ_ONLY,
  description: `The tool ${name}`,
  input_schema: { type: 'object' },
  handler: () => `from ${name}`,
  ...fields,
});

beforeAll(async () => {
  node = await TestNode.start();
  account = await firstAccount(node);
  agent = await newAgent(node, account, { approval_floor: 'bypass' });
  executor = await newRunner(node, account, { modules: ['tools', 'files'], machine: 'build-box' });
  runner = await connectRunner({ registration: executor.registration, log: () => undefined });
  await runner.announce({ tools: [served('look'), served('search', { module: 'files' })] });
});

afterAll(async () => {
  await runner?.close();
  await node?.close();
});

describe('A runner of the SDK', () => {
  it('answers for each of its modules, and nothing of it is unexpected', async () => {
    const mesh = await meshOf(node, account);
    expect(mesh.machines.find(({ machine }) => machine === 'build-box')?.services).toEqual(
      ['files', 'tools'].map((name) => ({
        name,
        id: executor.id,
        version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
        executor_public_id: executor.id,
        endpoints: [expect.objectContaining({ name: name === 'files' ? 'search' : 'look' })],
        state: 'answering',
      })),
    );
    expect([missed(mesh), mesh.unexpected, mesh.malformed]).toEqual([[], [], 0]);
  });

  it('is called by an address that was found, from a person’s client and from a model', async () => {
    const found = await node.http('GET', '/agent_api/v1/mesh/tools?query=search', { token: agent.token });
    const [{ address }] = found.body.tools;
    expect(address).toBe('files@build-box/search');
    const called = await taskOfCall(node, agent, { address, input: {} });
    expect(called).toMatchObject({ status: 'completed', content: 'from search' });
    const run = await consoleRun(node, agent);
    const step = callStep('mesh_call', { input: { address: 'tools/look', input: {} } });
    const task = await parked(node, agent, run, step);
    expect(await taskNow(node, agent, task, 10_000)).toMatchObject({
      status: 'completed',
      content: 'from look',
      claimed_by: { executor_public_id: executor.id },
    });
  });

  it('answers with what it serves now, and when it is gone with nothing', async () => {
    await runner.announce({ tools: [served('look'), served('more')] });
    expect(reasonsOf(await meshOf(node, account), executor.id)).toEqual([]);
    await runner.close();
    expect(missed(await meshOf(node, account))).toEqual([executor.id, executor.id]);
  });
});

describe('A stock micro service', () => {
  it('counts by the id that its own INFO document bound, until its next announcement', async () => {
    const stock = await newRunner(node, account, {
      modules: ['stock'],
      machine: 'stock-box',
      service_ids: 'any',
    });
    const bus = await onBus(stock);
    const service = await bus.connection.services.add({ name: 'stock', version: '1.0.0' });
    service.addEndpoint('greet', {
      subject: `${stock.subjects.tool}.greet`,
      metadata: { description: 'Greets', input_schema: '{"type":"object"}' },
      handler: (_, message) => void message.respond('{"content":"Hello"}'),
    });
    await bus.connection.flush();
    const before = await meshOf(node, account);
    expect(answering(before)).not.toContain(stock.id);
    expect(reasonsOf(before, service.info().id)).toEqual(['there is no record of it']);

    expect((await bus.ask('announce', service.info())).status).toBe(200);
    const bound = await meshOf(node, account);
    expect(answering(bound)).toContain(stock.id);
    expect(reasonsOf(bound, service.info().id)).toEqual([]);
    const greeting = { address: 'stock@stock-box/greet', input: {} };
    expect(await taskOfCall(node, agent, greeting)).toMatchObject({ status: 'completed', content: 'Hello' });

    await announce(node, stock, [tool('greet')], { delivery: 'serve' });
    const unbound = await meshOf(node, account);
    expect(missed(unbound)).toContain(stock.id);
    expect(reasonsOf(unbound, service.info().id)).toEqual(['there is no record of it']);
    await bus.close();
  });
});

describe('Every client of the services protocol', () => {
  it('sees what the mesh shows: `nats micro list` with a member’s credentials', async () => {
    const member: BusClient = await onBus(agent);
    const names = new Set<string>();
    for await (const { name } of await member.connection.services.client().info()) names.add(name);
    await member.close();
    expect([...names]).toEqual(
      expect.arrayContaining(['nexus-console', 'nexus-controller', 'nexus-executor']),
    );
  });
});
