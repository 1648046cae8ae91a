import { connect, credsAuthenticator, headers } from 'nats';
import { connectRunner } from '../../../dist/src/runner/sdk/index.js';
import { NEXUS } from '../names.mjs';
import { RestSocket } from '../rest-socket.mjs';
import { ANSWER_WITHIN_MS, INPUT } from '../workload.mjs';

const CALLERS = { bus: busCaller, rest: restCaller };

/** Nexus with its own runner SDK, by door and delivery. */
const peer = (door, delivery) => ({
  file: import.meta.url,
  name: NEXUS[door][delivery],
  door,
  delivery,
  async open(stage) {
    const { nexus, product, bus, postgres } = stage;
    if (delivery === 'serve' && product.bus.credentials === null)
      return { absent: 'delivery serve needs a managed bus' };
    const registration = await product.registerRunner(`echo-${door}-${delivery}`);
    const runnerId = registration.executor.public_id;
    return {
      context: { registration, delivery },
      database: nexus.database,
      processes: { nexus: nexus.pid, nats: bus.pid, postgres: postgres.pid },
      /** Once the runner has announced, since a run freezes that. */
      async callerContext() {
        if ((await stage.deliveryOf(runnerId)) !== delivery)
          return { absent: `its runner does not ${delivery}` };
        const { agentToken: token, bus } = product;
        return { run: await product.createRun(runnerId), url: nexus.url, token, bus };
      },
    };
  },
  roles: { handler: runner, caller: CALLERS[door] },
});

async function runner({ registration, delivery }) {
  const tool = {
    name: 'echo',
    description: 'Answers the text it is sent',
    input_schema: { type: 'object', properties: { text: { type: 'string' } } },
    effect_profile: {
      kind: 'read_only',
      destructive: false,
      effect_scope: 'closed',
      idempotency: 'intrinsic',
      reconciliation: 'none',
    },
    handler: (input) => input.text,
  };
  const connected = await connectRunner({ registration, maxConcurrent: 256, delivery });
  await connected.announce({ tools: [tool] });
  return { stop: () => connected.close({ graceMs: 1_000 }) };
}

/** One request: the member verb `call` answers when the task is settled. */
async function busCaller({ run, token, bus }) {
  const { subjects, credentials } = bus;
  const connection = await connect({
    servers: bus.servers,
    noAsyncTraces: true,
    inboxPrefix: subjects.inbox_prefix,
    ...(credentials && { authenticator: credsAuthenticator(new TextEncoder().encode(credentials)) }),
  });
  const head = headers();
  if (!credentials) head.set('Authorization', `Bearer ${token}`);
  const options = { timeout: ANSWER_WITHIN_MS + 5_000, ...(!credentials && { headers: head }) };
  return {
    async call() {
      const step = { call: { name: 'echo', input: INPUT } };
      const body = JSON.stringify({ run_public_id: run, step, wait_ms: ANSWER_WITHIN_MS });
      const answer = await connection.request(`${subjects.member}.call`, body, options);
      check(answer.json().task, () => answer.string());
    },
  };
}

/** Two requests, the fewest that REST offers: the step is accepted, and its task waited for. A connection a call. */
function restCaller({ run, token, url }) {
  const path = `/agent_api/v1/runs/${run}/tasks`;
  const free = [];
  let calls = 0;
  return {
    async call() {
      const socket = free.pop() ?? new RestSocket(url, token);
      const key = `c${(calls += 1)}`;
      await socket.ask('POST', path, { steps: [{ call: { name: 'echo', input: INPUT, key } }] });
      const { task } = await socket.ask('GET', `${path}/${key}?wait_ms=${ANSWER_WITHIN_MS}`);
      check(task, () => JSON.stringify(task));
      free.push(socket);
    },
  };
}

function check(task, text) {
  if (task?.status !== 'completed' || task.content !== INPUT.text) throw new Error(text());
}

export const peers = ['bus', 'rest'].flatMap((door) => [peer(door, 'serve'), peer(door, 'claim')]);
