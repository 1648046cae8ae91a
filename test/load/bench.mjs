/**
 * `npm run bench`: the product beside a bare hand-written pipeline, on one PostgreSQL (durable) and one NATS, in one run
 * and in turn. Prints a table and the ratios; asserts nothing. `--calls N` calls a round, `--rounds N`, `--in-flight N`.
 * `--only prune|sweep|effects` measures that alone, in a table of `--tasks N`.
 */
import { parseArgs } from 'node:util';
import { connect, headers } from 'nats';
import { closedLoop, cpuMicroseconds, median, residentMiB } from './closed-loop.mjs';
import { benchDiscovery } from './discovery-bench.mjs';
import { benchEffects } from './effects-bench.mjs';
import { benchPrune } from './prune-bench.mjs';
import { askJson, openStage } from './stage.mjs';
import { benchSweep } from './sweep-bench.mjs';

const { values } = parseArgs({
  options: {
    calls: { type: 'string', default: '3000' },
    rounds: { type: 'string', default: '3' },
    'in-flight': { type: 'string', default: '64' },
    only: { type: 'string' },
    tasks: { type: 'string', default: '1000000' },
  },
});
const sections = { effects: benchEffects, prune: benchPrune, sweep: benchSweep };
const section = sections[values.only];
if (values.only !== undefined && !section)
  throw new Error(`--only is one of ${Object.keys(sections).join(', ')}`);
const calls = Number(values.calls);
const rounds = Number(values.rounds);
const inFlight = Number(values['in-flight']);
const INPUT = { text: 'x'.repeat(200) };

const stage = await openStage();
try {
  const node = await stage.startNode(17_420);
  const product = await stage.provision(node.url);
  if (section) await section(stage, node, product, { tasks: Number(values.tasks) });
  else await benchCalls(node, product);
} finally {
  await stage.close();
}
process.exit(0);

/** The product beside the bare pipeline, and discovery. */
async function benchCalls(node, product) {
  console.log('Starting a runner and the bare pipeline');
  const runner = await stage.startScript('echo-runner.mjs', [product.registrationFile]);
  const bareEnv = { BARE_DATABASE_URL: stage.databaseUrl('bare'), BARE_NATS_URL: stage.nats.url };
  const bareServer = await stage.startScript('bare-pipeline.mjs', ['server'], bareEnv);
  const bareWorker = await stage.startScript('bare-pipeline.mjs', ['worker'], bareEnv);

  const runnerId = product.registration.executor.public_id;
  const { run } = await askJson(
    node.url,
    'POST',
    '/agent_api/v1/runs',
    {
      default_runner_executor_public_id: runnerId,
      configuration: { runner_executor_public_ids: [runnerId] },
    },
    product.agentToken,
  );

  const peers = [
    { name: 'bare claim pipeline', call: await bareCaller(), pids: [bareServer.pid, bareWorker.pid] },
    { name: 'Nexus over the bus, claim', call: await busCaller(), pids: [node.pid, runner.pid] },
    { name: 'Nexus over REST, claim', call: restCaller(), pids: [node.pid, runner.pid] },
  ];
  for (const peer of peers) await closedLoop({ calls, inFlight, call: peer.call });
  console.log(`Warm. ${rounds} rounds of ${calls} calls, ${inFlight} in flight, in turn`);
  const results = new Map(peers.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const peer of peers) {
      const cpu = () => peer.pids.map(cpuMicroseconds);
      const before = cpu();
      const result = await closedLoop({ calls, inFlight, call: peer.call });
      const used = cpu().map((after, index) => Math.round((after - before[index]) / calls));
      results.get(peer.name).push({ ...result, server_cpu_us: used[0], worker_cpu_us: used[1] });
    }
  }
  const rows = peers.map(({ name }) => ({ name, ...medians(results.get(name)) }));
  console.table(rows);
  const [bare, bus, rest] = rows;
  console.log(`bus / bare  throughput ${ratio(bus, bare, 'calls_per_s')}  p99 ${ratio(bus, bare, 'p99_ms')}`);
  console.log(
    `REST / bare throughput ${ratio(rest, bare, 'calls_per_s')}  p99 ${ratio(rest, bare, 'p99_ms')}`,
  );

  await benchDiscovery(stage, node, product);
  console.log(`The node's memory after all this: ${residentMiB(node.pid).toFixed(0)} MiB`);

  async function bareCaller() {
    const bus = await connect({ servers: stage.nats.url, noAsyncTraces: true });
    const body = JSON.stringify({ input: INPUT });
    return async () => void (await bus.request('bare.call', body, { timeout: 60_000 }));
  }

  async function busCaller() {
    const { subjects } = product.bus;
    const bus = await connect({
      servers: stage.nats.url,
      noAsyncTraces: true,
      inboxPrefix: subjects.inbox_prefix,
    });
    const head = headers();
    head.set('Authorization', `Bearer ${product.agentToken}`);
    const body = JSON.stringify({
      run_public_id: run.public_id,
      step: { call: { name: 'echo', input: INPUT } },
      wait_ms: 60_000,
    });
    return async () => {
      const answer = await bus.request(`${subjects.member}.call`, body, { timeout: 70_000, headers: head });
      const { task } = answer.json();
      if (task?.status !== 'completed') throw new Error(answer.string());
    };
  }

  function restCaller() {
    const path = `/agent_api/v1/runs/${run.public_id}/tasks`;
    let key = 0;
    const mark = `r${Date.now().toString(36)}`;
    return async () => {
      const name = `${mark}-${(key += 1)}`;
      await askJson(
        node.url,
        'POST',
        path,
        { steps: [{ call: { name: 'echo', input: INPUT, key: name } }] },
        product.agentToken,
      );
      const { task } = await askJson(
        node.url,
        'GET',
        `${path}/${name}?wait_ms=60000`,
        undefined,
        product.agentToken,
      );
      if (task.status !== 'completed') throw new Error(JSON.stringify(task));
    };
  }
}

function medians(list) {
  const fields = Object.keys(list[0]).map((field) => [
    field,
    Number(median(list.map((row) => row[field])).toFixed(1)),
  ]);
  return Object.fromEntries(fields);
}

function ratio(one, other, field) {
  return (one[field] / other[field]).toFixed(2);
}
