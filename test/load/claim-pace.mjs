import { randomBytes } from 'node:crypto';
import { askJson } from './stage.mjs';

/**
 * Claims and commits parked tasks at an even pace until `until` is fulfilled, or for `seconds`; the latency of claims alone.
 * An even pace, not a closed loop: what is measured is the wait of somebody who comes along, not the machine's last reserve.
 */
export async function paceClaims({ node, runner, keys, perSecond, seconds = Infinity, until }) {
  const latencies = [];
  const underWay = new Set();
  let isOver = false;
  let fault;
  const end = () => (isOver = true);
  until?.then(end, end);
  const started = performance.now();
  for (let index = 0; !isOver && performance.now() - started < seconds * 1_000; index += 1) {
    const wait = started + (index * 1_000) / perSecond - performance.now();
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    const key = keys.pop();
    if (key === undefined) throw new Error('The bench parked too few tasks');
    const call = claimAndCommit(node, runner, key, latencies)
      .catch((refused) => {
        fault ??= refused;
        isOver = true;
      })
      .finally(() => underWay.delete(call));
    underWay.add(call);
  }
  await Promise.all(underWay);
  if (fault) throw fault;
  latencies.sort((one, other) => one - other);
  const at = (share) => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))];
  return {
    claims: latencies.length,
    p50_ms: Number(at(0.5).toFixed(2)),
    p99_ms: Number(at(0.99).toFixed(2)),
    max_ms: Number(at(1).toFixed(1)),
  };
}

async function claimAndCommit(node, runner, key, latencies) {
  const path = `/agent_api/v1/executor/inbox/${runner.run}/${key}`;
  const claim_token = randomBytes(32).toString('base64url');
  const from = performance.now();
  await askJson(node.url, 'POST', `${path}/claim`, { claim_token }, runner.token);
  latencies.push(performance.now() - from);
  const result = { claim_token, outcome: 'completed', content: 'done' };
  await askJson(node.url, 'POST', `${path}/commit`, result, runner.token);
}
