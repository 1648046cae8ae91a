/**
 * The bare claim pipeline, what a careful person writes by hand: a request comes over NATS, one INSERT, a push, the worker
 * asks for the claim (one UPDATE), works, asks for the commit (one UPDATE), and the caller is answered. No accounts, no
 * guards, no evidence. `node bare-pipeline.mjs server|worker`, with BARE_DATABASE_URL and BARE_NATS_URL.
 */
import { randomUUID } from 'node:crypto';
import { connect } from 'nats';
import pg from 'pg';

const QUERIES = {
  insert: {
    name: 'insert',
    text: `insert into calls (id, input, status, deadline_at) values ($1, $2, 'waiting', now() + interval '2 minutes')`,
  },
  claim: {
    name: 'claim',
    text: `update calls set status = 'claimed', claimed_at = now() where id = $1 and status = 'waiting' returning input`,
  },
  commit: {
    name: 'commit',
    text: `update calls set status = 'done', result = $2, settled_at = now() where id = $1 and status = 'claimed' returning id`,
  },
};

const bus = await connect({ servers: process.env.BARE_NATS_URL, noAsyncTraces: true });
const json = (message) => JSON.parse(message.string());

if (process.argv[2] === 'server') await serve();
else work();
await bus.flush();
process.send?.('ready');

async function serve() {
  const pool = new pg.Pool({ connectionString: process.env.BARE_DATABASE_URL, max: 16 });
  await pool.query(`
    create table if not exists calls (id uuid primary key, input json not null, status text not null,
      deadline_at timestamptz, claimed_at timestamptz, settled_at timestamptz, result json)`);
  const waiting = new Map();
  const on = (subject, handle) =>
    bus.subscribe(subject, {
      callback: (_fault, message) => void handle(message).catch((fault) => console.error(fault)),
    });
  on('bare.call', async (message) => {
    const id = randomUUID();
    waiting.set(id, message);
    await pool.query({ ...QUERIES.insert, values: [id, JSON.stringify(json(message).input)] });
    bus.publish('bare.work', JSON.stringify({ id }));
  });
  on('bare.claim', async (message) => {
    const { rows } = await pool.query({ ...QUERIES.claim, values: [json(message).id] });
    message.respond(JSON.stringify({ input: rows[0].input }));
  });
  on('bare.commit', async (message) => {
    const { id, result } = json(message);
    await pool.query({ ...QUERIES.commit, values: [id, JSON.stringify(result)] });
    message.respond('{}');
    waiting.get(id)?.respond(JSON.stringify({ id, result }));
    waiting.delete(id);
  });
}

function work() {
  bus.subscribe('bare.work', {
    queue: 'workers',
    callback: (_fault, message) => {
      const { id } = json(message);
      void (async () => {
        const { input } = json(await bus.request('bare.claim', JSON.stringify({ id }), { timeout: 30_000 }));
        await bus.request('bare.commit', JSON.stringify({ id, result: { content: input.text } }), {
          timeout: 30_000,
        });
      })();
    },
  });
}
