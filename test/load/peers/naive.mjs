import { NAIVE } from '../names.mjs';
import { pipelinePeers } from '../pipeline.mjs';

const INSERT = {
  name: 'insert',
  text: `insert into calls (id, input, status, deadline_at) values ($1, $2, 'waiting', now() + interval '2 minutes')`,
};
const CLAIM = {
  name: 'claim',
  text: `update calls set status = 'claimed', claimed_at = now() where id = $1 and status = 'waiting' returning input`,
};
const SETTLE = {
  name: 'settle',
  text: `update calls set status = 'done', result = $2, settled_at = now() where id = $1 and status <> 'done' returning id`,
};

/** A row, a prepared statement, a transaction. */
const writesOf = (pool) => {
  const one = async (query, ...values) => (await pool.query({ ...query, values })).rows[0];
  return {
    insert: ({ id, input }) => one(INSERT, id, JSON.stringify(input)),
    claim: async ({ id }) => (await one(CLAIM, id)).input,
    settle: ({ id, result }) => one(SETTLE, id, JSON.stringify(result)),
  };
};

export const peers = pipelinePeers({
  file: import.meta.url,
  names: NAIVE,
  databaseName: 'naive',
  writesOf,
});
