import { paceClaims } from './claim-pace.mjs';
import { fillSettled, park, quietRunner, settle, withDatabase } from './table-fill.mjs';

const CLAIMS_A_SECOND = 100;
const DUE = 20_000;

/** `DUE` tasks that become due in one moment, in a table of `tasks`: how late the last is settled, and what claims notice. */
export async function benchSweep(stage, node, product, { tasks, print }) {
  const runner = await quietRunner(node, product, 'sweep-bench');
  console.log(`Filling the table with ${tasks} settled tasks`);
  await withDatabase(stage, async (client) => {
    await fillSettled(client, { like: runner.run, runs: Math.round(tasks / 100), tasksEach: 100, days: 1 });
    const keys = await park(node, product, runner, CLAIMS_A_SECOND * 90);
    await settle(client);
    const pace = { node, runner, keys, perSecond: CLAIMS_A_SECOND };
    await paceClaims({ ...pace, seconds: 5 });
    const before = await paceClaims({ ...pace, seconds: 20 });
    await addDue(client, runner.run);
    const during = await paceClaims({ ...pace, until: untilSettled(client) });
    console.log(`Claims at an even ${CLAIMS_A_SECOND} a second, over REST`);
    print([
      { claims_are: 'with nothing due', ...before },
      { claims_are: 'beside the sweep', ...during },
    ]);
    print([await lag(client)]);
  });
}

/** Unclaimed tasks that are all due in the same 3 seconds' time. */
const addDue = (client, run) =>
  client.query(
    `insert into tasks (run_id, task_key, account_id, principal_id, tool_name, tool_input, effect_profile, status, target_id,
       addressed_role, addressed_id, timeout_ms, extension_bound_ms, started_at, deadline_at)
     select id, 'due' || n, account_id, principal_id, 'write', '{}', '{"kind":"write"}', 'dispatched', default_runner_id,
       'runner', default_runner_id, 1000, 1000, now(), now() + interval '3 seconds'
     from runs, generate_series(1, ${DUE}) n where id = $1`,
    [run],
  );

const ARE_DUE = `task_key like 'due%' and tool_input::text = '{}'`;

async function untilSettled(client) {
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 500));
    const { rows } = await client.query(
      `select count(*)::integer as left from tasks where status = 'dispatched' and ${ARE_DUE}`,
    );
    if (rows[0].left === 0) return;
  }
}

async function lag(client) {
  const { rows } = await client.query(
    `select count(*)::integer as due, round(count(*) / extract(epoch from max(settled_at) - min(settled_at)))::integer as settled_a_s,
       round(1000 * extract(epoch from percentile_cont(0.5) within group (order by settled_at - deadline_at)))::integer as lag_p50_ms,
       round(1000 * extract(epoch from max(settled_at - deadline_at)))::integer as lag_max_ms
     from tasks where ${ARE_DUE}`,
  );
  return rows[0];
}
