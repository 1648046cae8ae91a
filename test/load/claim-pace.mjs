import { randomBytes } from 'node:crypto';
import { median, quantile } from './closed-loop.mjs';
import { askJson } from './product.mjs';

const WINDOW_MS = 5_000;

/**
 * Claims and commits parked tasks at an even pace until `until` is fulfilled, or for `seconds`; the latency of claims alone.
 * An even pace, not a closed loop: what is measured is the wait of somebody who comes along, not the machine's last reserve.
 * `p99_of_5s_ms` is the median over windows of 5 s: what other programs of the machine do for a moment is not in it.
 */
export async function paceClaims({ node, runner, keys, perSecond, seconds = Infinity, until }) {
  const samples = [];
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
    const call = claimAndCommit(node, runner, key, samples)
      .catch((refused) => {
        fault ??= refused;
        isOver = true;
      })
      .finally(() => underWay.delete(call));
    underWay.add(call);
  }
  await Promise.all(underWay);
  if (fault) throw fault;
  const windows = new Map();
  for (const { at, ms } of samples) {
    const window = Math.floor((at - started) / WINDOW_MS);
    windows.set(window, [...(windows.get(window) ?? []), ms]);
  }
  const all = samples.map(({ ms }) => ms);
  const rounded = (value) => Number(value.toFixed(2));
  return {
    claims: all.length,
    p50_ms: rounded(quantile(all, 0.5)),
    p99_ms: rounded(quantile(all, 0.99)),
    p99_of_5s_ms: rounded(median([...windows.values()].map((part) => quantile(part, 0.99)))),
    max_ms: rounded(quantile(all, 1)),
  };
}

async function claimAndCommit(node, runner, key, samples) {
  const path = `/agent_api/v1/executor/inbox/${runner.run}/${key}`;
  const claim_token = randomBytes(32).toString('base64url');
  const from = performance.now();
  await askJson(node.url, 'POST', `${path}/claim`, { claim_token }, runner.token);
  samples.push({ at: from, ms: performance.now() - from });
  const result = { claim_token, outcome: 'completed', content: 'done' };
  await askJson(node.url, 'POST', `${path}/commit`, result, runner.token);
}
