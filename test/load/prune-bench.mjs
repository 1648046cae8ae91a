import { paceClaims } from './claim-pace.mjs';
import { askJson } from './product.mjs';
import { fillSettled, park, quietRunner, settle, withDatabase } from './table-fill.mjs';

const CLAIMS_A_SECOND = 100;
const TASKS_EACH = 10;

/** A prune of `tasks` old tasks, one tenth of them in one run: how fast it is, and what claims notice of it. */
export async function benchPrune(stage, node, product, { tasks, print }) {
  const runner = await quietRunner(node, product, 'prune-bench');
  console.log(`Filling the table with ${tasks} tasks of old runs`);
  await withDatabase(stage, async (client) => {
    const runs = Math.round((tasks * 0.9) / TASKS_EACH);
    await fillSettled(client, { like: runner.run, runs, tasksEach: TASKS_EACH, days: 100 });
    await fillSettled(client, { like: runner.run, runs: 1, tasksEach: tasks - runs * TASKS_EACH, days: 101 });
    await settle(client);
  });
  const seconds = 20;
  const keys = await park(node, product, runner, Math.ceil(CLAIMS_A_SECOND * (60 + tasks / 5_000)));
  const pace = { node, runner, keys, perSecond: CLAIMS_A_SECOND };
  await paceClaims({ ...pace, seconds: 5 });
  const before = await paceClaims({ ...pace, seconds });
  const started = performance.now();
  const pruning = askJson(
    node.url,
    'POST',
    '/platform_api/v1/retention/prune',
    undefined,
    product.platformToken,
  ).then(({ pruned }) => ({ pruned, seconds: (performance.now() - started) / 1_000 }));
  const during = await paceClaims({ ...pace, until: pruning });
  const { pruned, seconds: took } = await pruning;
  const after = await paceClaims({ ...pace, seconds });
  console.log(`Claims at an even ${CLAIMS_A_SECOND} a second, over REST`);
  print([
    { claims_are: 'before the prune', ...before },
    { claims_are: 'beside the prune', ...during },
    { claims_are: 'after the prune', ...after },
  ]);
  const rate = Math.round(pruned.tasks / took);
  console.log(
    `Pruned ${pruned.runs} runs and ${pruned.tasks} tasks in ${took.toFixed(1)} s: ${rate} tasks/s; ` +
      `p99 of claims beside it / before ${(during.p99_of_5s_ms / before.p99_of_5s_ms).toFixed(2)} (windows of 5 s)`,
  );
}
