import pg from 'pg';
import { askJson } from './product.mjs';

const WRITE = {
  kind: 'write',
  destructive: false,
  effect_scope: 'closed',
  idempotency: 'none',
  reconciliation: 'none',
};

/** A runner that nobody runs, so that the bench claims for it, and a run of the agent whose default it is. */
export async function quietRunner(node, product, name) {
  const registration = await product.registerRunner(name);
  const id = registration.executor.public_id;
  const tools = [
    { name: 'write', effect_profile: WRITE, description: 'Writes', input_schema: { type: 'object' } },
  ];
  await askJson(node.url, 'PUT', '/agent_api/v1/executor/announcement', { tools }, registration.secret);
  return { id, token: registration.secret, run: await product.createRun(id) };
}

/** Parks `count` calls on the runner's run; answers their keys. */
export async function park(node, product, runner, count) {
  const keys = [];
  while (keys.length < count) {
    const call = { name: 'write', input: { text: 'x'.repeat(200) }, timeout_ms: 3_600_000 };
    const steps = Array.from({ length: Math.min(64, count - keys.length) }, () => ({ call }));
    const path = `/agent_api/v1/runs/${runner.run}/tasks`;
    const { tasks } = await askJson(node.url, 'POST', path, { steps }, product.agentToken);
    keys.push(...tasks.map((task) => task.task_key));
  }
  return keys;
}

/** Runs `work` with a connection to the node's database. */
export async function withDatabase(stage, work) {
  const client = new pg.Client({ connectionString: stage.databaseUrl('nexus') });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/**
 * Adds `runs` runs like `like`, each with `tasksEach` settled writes of about 1 KB, `days` old, by statements of 50,000 tasks.
 * Their captures name `runners` different runners. `conversation` is that of the runs, or null.
 */
export async function fillSettled(client, { like, runs, tasksEach, days, runners = 1, conversation = null }) {
  const perStatement = Math.max(1, Math.floor(50_000 / tasksEach));
  for (let made = 0; made < runs; made += perStatement) {
    await client.query(
      `with made as (
         insert into runs (id, account_id, principal_id, conversation_id, default_runner_id, declaration_digest,
           approval_mode, approval_rules, created_at)
         select gen_random_uuid(), account_id, principal_id, $5, default_runner_id, declaration_digest, approval_mode,
           approval_rules, now() - make_interval(days => $3) + n * interval '1 millisecond'
         from runs, generate_series(1, $2) n where id = $1
         returning id, account_id, principal_id, default_runner_id, created_at
       )
       insert into tasks (run_id, task_key, account_id, principal_id, tool_name, tool_input, effect_profile, status,
         target_id, addressed_role, addressed_id, timeout_ms, extension_bound_ms, accepted_at, settled_at, content, is_error,
         capture_generation, capture_runner_id, capture_claimed_at, capture_checkpoint)
       select id, 'n' || n, account_id, principal_id, 'write', json_build_object('text', repeat('x', 200)),
         '{"kind":"write"}', 'completed', default_runner_id, 'runner', default_runner_id, 1000, 1000, created_at,
         created_at, to_json(repeat('y', 500)), false, 1,
         md5('runner' || n % $6)::uuid, created_at, '{"tree":"4b825dc642cb6eb9a060e54bf8d69288fbee4904"}'
       from made, generate_series(1, $4) n`,
      [like, Math.min(perStatement, runs - made), days, tasksEach, conversation, runners],
    );
  }
}

/** What PostgreSQL would have done on such a table by itself, long before: statistics, and no old pages to write. */
export const settle = (client) =>
  client.query('vacuum (analyze) tasks, runs').then(() => client.query('checkpoint'));
