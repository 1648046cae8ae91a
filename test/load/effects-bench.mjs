import { closedLoop } from './closed-loop.mjs';
import { askJson } from './product.mjs';
import { fillSettled, quietRunner, settle, withDatabase } from './table-fill.mjs';

/** The effects of a conversation of 1,000 runs, of ten writes each at five runners, in a table of `tasks`. */
export async function benchEffects(stage, node, product, { tasks, print }) {
  const runner = await quietRunner(node, product, 'effects-bench');
  const ask = (method, path, body) => askJson(node.url, method, path, body, product.agentToken);
  const { conversation } = await ask('POST', '/agent_api/v1/conversations', {});
  const first = (
    await ask('POST', '/agent_api/v1/runs', {
      conversation_public_id: conversation.public_id,
      configuration: { runner_executor_public_ids: [runner.id] },
    })
  ).run.public_id;
  console.log(`Filling the table with ${tasks} tasks, 10,000 of them in one conversation`);
  await withDatabase(stage, async (client) => {
    const others = Math.round(tasks / 10) - 1_000;
    if (others > 0) await fillSettled(client, { like: runner.run, runs: others, tasksEach: 10, days: 2 });
    // later than the run that the question begins with
    const days = -1;
    const of = { conversation: conversation.public_id, runners: 5 };
    await fillSettled(client, { like: runner.run, runs: 999, tasksEach: 10, days, ...of });
    await settle(client);
  });
  const path = `/agent_api/v1/conversations/${conversation.public_id}/runner_effects?from_run=${first}`;
  const { runner_effects: effects } = await ask('GET', path);
  if (effects.status !== 'touched' || effects.runners.length !== 5) throw new Error(JSON.stringify(effects));
  const call = () => ask('GET', path);
  await closedLoop({ calls: 30, inFlight: 1, call });
  const { p50_ms, p99_ms } = await closedLoop({ calls: 200, inFlight: 1, call });
  print([
    {
      effects: 'a conversation of 1,000 runs',
      p50_ms: Number(p50_ms.toFixed(2)),
      p99_ms: Number(p99_ms.toFixed(2)),
    },
  ]);
}
