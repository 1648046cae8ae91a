import { BATCHED } from '../names.mjs';
import { pipelinePeers } from '../pipeline.mjs';

/** Statements under way at most, and rows in each, of one kind of write. */
const FLUSHES = 3;
const ROWS = 32;

const INSERT = {
  name: 'insert',
  text: `
    insert into calls (id, input, status, deadline_at)
    select id, input, 'waiting', now() + interval '2 minutes' from json_to_recordset($1) as given (id uuid, input json)`,
};
const CLAIM = {
  name: 'claim',
  text: `
    update calls set status = 'claimed', claimed_at = now() from json_to_recordset($1) as given (id uuid)
    where calls.id = given.id and calls.status = 'waiting' returning calls.id, calls.input`,
};
const SETTLE = {
  name: 'settle',
  text: `
    update calls set status = 'done', result = given.result, settled_at = now()
    from json_to_recordset($1) as given (id uuid, result json)
    where calls.id = given.id and calls.status <> 'done' returning calls.id`,
};

/** Concurrent writes of one kind share a statement, which is one transaction. */
const writesOf = (pool) => {
  const shared = (query) =>
    lane(async (rows) => (await pool.query({ ...query, values: [JSON.stringify(rows)] })).rows);
  const claim = shared(CLAIM);
  return { insert: shared(INSERT), claim: async (row) => (await claim(row)).input, settle: shared(SETTLE) };
};

/** What has gathered goes out as soon as a flush is free; who is alone goes at once. Each row gets what it returned. */
function lane(flush) {
  let waiting = [];
  let underWay = 0;
  let isPumping = false;
  const send = async (entries) => {
    underWay += 1;
    try {
      const returned = new Map((await flush(entries.map(({ row }) => row))).map((row) => [row.id, row]));
      for (const { row, resolve } of entries) resolve(returned.get(row.id));
    } catch (fault) {
      for (const { reject } of entries) reject(fault);
    }
    underWay -= 1;
    pump();
  };
  const pump = () => {
    isPumping = false;
    for (; underWay < FLUSHES && waiting.length > 0; waiting = waiting.slice(ROWS)) {
      void send(waiting.slice(0, ROWS));
    }
  };
  return (row) =>
    new Promise((resolve, reject) => {
      waiting.push({ row, resolve, reject });
      if (isPumping) return;
      isPumping = true;
      queueMicrotask(pump);
    });
}

export const peers = pipelinePeers({
  file: import.meta.url,
  names: BATCHED,
  databaseName: 'batched',
  writesOf,
});
