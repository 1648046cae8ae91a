import { randomUUID } from 'node:crypto';
import { connect } from 'nats';
import pg from 'pg';
import { ANSWER_WITHIN_MS, INPUT } from './workload.mjs';

/**
 * The hand-written pipelines: what a careful person writes who needs durable calls and has PostgreSQL and NATS. The
 * caller's own process writes the rows, a second process carries the calls out. No accounts, no guards, no evidence.
 *
 * - `serve`: INSERT → NATS request → UPDATE
 * - `claim`: INSERT → push → the handler asks for its claim (UPDATE) → and for its commit (UPDATE)
 *
 * `names` are the peers', by delivery; `writesOf(pool)` answers `{insert, claim, settle}`: how rows are written.
 */
export function pipelinePeers({ file, names, databaseName, writesOf }) {
  const peer = (delivery) => ({
    file,
    name: names[delivery],
    async open(stage) {
      const database = `${databaseName}_${delivery}`;
      const databaseUrl = await stage.createDatabase(database);
      return {
        context: { databaseUrl, servers: stage.nats.url, subject: database },
        database,
        processes: { nats: stage.nats.pid, postgres: stage.postgres.pid },
      };
    },
    roles: {
      handler: delivery === 'serve' ? serveHandler : claimHandler,
      async caller(context) {
        const [bus, pool] = [await connectTo(context), await openTable(context)];
        const writes = writesOf(pool);
        return { call: (delivery === 'serve' ? serveCaller : claimCaller)(bus, writes, context) };
      },
    },
  });
  return [peer('serve'), peer('claim')];
}

function serveCaller(bus, writes, { subject }) {
  return async () => {
    const id = randomUUID();
    await writes.insert({ id, input: INPUT });
    const body = JSON.stringify({ id, input: INPUT });
    const result = (await bus.request(`${subject}.work`, body, { timeout: ANSWER_WITHIN_MS })).json();
    await writes.settle({ id, result });
  };
}

async function serveHandler(context) {
  const bus = await connectTo(context);
  hear(bus, `${context.subject}.work`, ({ input }, message) =>
    message.respond(JSON.stringify({ content: input.text })),
  );
  await bus.flush();
}

function claimCaller(bus, writes, { subject }) {
  const waiting = new Map();
  hear(bus, `${subject}.claim`, async ({ id }, message) => {
    message.respond(JSON.stringify({ input: await writes.claim({ id }) }));
  });
  hear(bus, `${subject}.commit`, async ({ id, result }, message) => {
    await writes.settle({ id, result });
    message.respond('{}');
    waiting.get(id)?.();
    waiting.delete(id);
  });
  return async () => {
    const id = randomUUID();
    const settled = new Promise((resolve) => waiting.set(id, resolve));
    await writes.insert({ id, input: INPUT });
    bus.publish(`${subject}.work`, JSON.stringify({ id }));
    await settled;
  };
}

async function claimHandler(context) {
  const bus = await connectTo(context);
  const ask = async (verb, body) =>
    (
      await bus.request(`${context.subject}.${verb}`, JSON.stringify(body), { timeout: ANSWER_WITHIN_MS })
    ).json();
  hear(bus, `${context.subject}.work`, async ({ id }) => {
    const { input } = await ask('claim', { id });
    await ask('commit', { id, result: { content: input.text } });
  });
  await bus.flush();
}

const connectTo = ({ servers }) => connect({ servers, noAsyncTraces: true });

/** Hears JSON; a fault ends the process, and the run with it. */
function hear(bus, subject, handle) {
  bus.subscribe(subject, {
    queue: 'one',
    callback: (_fault, message) => void handle(message.json(), message),
  });
}

/** A plan made while the table was small would scan it for ever: these find each row by its key, like the product's. */
const KEY_ACCESS = ['seqscan', 'bitmapscan', 'hashjoin', 'mergejoin', 'material']
  .map((method) => `-c enable_${method}=off`)
  .concat('-c plan_cache_mode=force_generic_plan', '-c jit=off');

async function openTable({ databaseUrl }) {
  const options = KEY_ACCESS.join(' ');
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 16, options });
  await pool.query(`
    create table calls (id uuid primary key, input json not null, status text not null, deadline_at timestamptz,
      claimed_at timestamptz, settled_at timestamptz, result json)`);
  return pool;
}
