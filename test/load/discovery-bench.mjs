import { closedLoop } from './closed-loop.mjs';
import { askJson } from './product.mjs';

/** 50 runners, each with 50 tools of 5 KB: what discovery costs one caller at a time. */
export async function benchDiscovery(stage, node, product, { print }) {
  console.log('Announcing 50 runners of 50 tools of 5 KB each');
  const ids = [];
  for (let index = 0; index < 50; index += 1) {
    const registration = await product.registerRunner(`fleet-${index}`);
    ids.push(registration.executor.public_id);
    await askJson(
      node.url,
      'PUT',
      '/agent_api/v1/executor/announcement',
      { tools: tools() },
      registration.secret,
    );
  }
  const get = (path, headers = {}) =>
    fetch(node.url + path, { headers: { authorization: `Bearer ${product.agentToken}`, ...headers } });
  const read = async (path) => {
    const answer = await get(path);
    if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
    await answer.arrayBuffer();
  };
  const page = '/agent_api/v1/executors?kind=runner&limit=50&view=summary';
  const etag = (await get(page)).headers.get('etag');
  const cases = {
    'one runner whole': () => read(`/agent_api/v1/executors/${ids[0]}`),
    'a summary page of 50': () => read(page),
    'a page of 4 MiB': () => read('/agent_api/v1/executors?kind=runner&limit=200'),
    'an unchanged page (304)': async () => {
      const answer = await get(page, { 'if-none-match': etag });
      if (answer.status !== 304) throw new Error(`expected 304, got ${answer.status}`);
    },
  };
  const rows = [];
  for (const [name, call] of Object.entries(cases)) {
    await closedLoop({ calls: 30, inFlight: 1, call });
    const { p50_ms, p99_ms } = await closedLoop({ calls: 100, inFlight: 1, call });
    rows.push({ discovery: name, p50_ms: Number(p50_ms.toFixed(2)), p99_ms: Number(p99_ms.toFixed(2)) });
  }
  print(rows);
}

function tools() {
  return Array.from({ length: 50 }, (_, index) => ({
    name: `tool_${index}`,
    effect_profile: {
      kind: 'read_only',
      destructive: false,
      effect_scope: 'closed',
      idempotency: 'intrinsic',
      reconciliation: 'none',
    },
    description: `Does the thing number ${index}`,
    input_schema: {
      type: 'object',
      properties: Object.fromEntries(
        Array.from({ length: 45 }, (_unused, at) => [
          `field_${at}`,
          { type: 'string', description: 'y'.repeat(60) },
        ]),
      ),
    },
  }));
}
