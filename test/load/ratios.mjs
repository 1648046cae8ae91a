import { BATCHED, BULLMQ, MCP_DIRECT, NAIVE, NEXUS } from './names.mjs';

/** What each ratio should be: at least, or at most. */
const GOALS = {
  serve_bus_over_batched: { least: 0.5 },
  claim_bus_over_batched_claim: { least: 0.5 },
  rest_over_naive: { least: 1 },
  rest_over_bus: { least: 0.6 },
  bus_over_bullmq_durable: { least: 2 },
  bus_over_bullmq: { least: 1.2 },
  bus_over_mcp_direct: { least: 3 },
  alone_bus_p50_minus_naive_ms: { most: 1.5 },
  alone_rest_p50_minus_naive_ms: { most: 3 },
  ten_million_over_ten_thousand: { most: 1.3 },
};

const BUSY = 64;
const ALONE = 1;

/**
 * The ratios of a run by its rows: throughput at 64 in flight, latency alone. One whose peer is absent is null. Where a
 * ratio speaks of no delivery it is that of `serve` or, where that is absent, of `claim`; a pipeline is always that of
 * the same delivery, and REST is judged by the delivery in which it does worse.
 */
export function ratiosOf(rows, growth = null) {
  const at = (name, inFlight) => rows.find((row) => row.name === name && row.in_flight === inFlight);
  const rate = (name) => at(name, BUSY)?.calls_per_s;
  const alone = (name) => at(name, ALONE)?.p50_ms;
  const delivery = rows.some(({ name }) => name === NEXUS.bus.serve) ? 'serve' : 'claim';
  const bus = rate(NEXUS.bus[delivery]);
  const worst = (quotientOf) => {
    const quotients = ['serve', 'claim'].map(quotientOf).filter((value) => value !== null);
    return quotients.length === 0 ? null : Math.min(...quotients);
  };
  const beyondNaive = (door) => difference(alone(NEXUS[door][delivery]), alone(NAIVE[delivery]));
  return {
    serve_bus_over_batched: quotient(rate(NEXUS.bus.serve), rate(BATCHED.serve)),
    claim_bus_over_batched_claim: quotient(rate(NEXUS.bus.claim), rate(BATCHED.claim)),
    rest_over_naive: worst((by) => quotient(rate(NEXUS.rest[by]), rate(NAIVE[by]))),
    rest_over_bus: worst((by) => quotient(rate(NEXUS.rest[by]), rate(NEXUS.bus[by]))),
    bus_over_bullmq_durable: quotient(bus, rate(BULLMQ.durable)),
    bus_over_bullmq: quotient(bus, rate(BULLMQ.unsynced)),
    bus_over_mcp_direct: quotient(bus, rate(MCP_DIRECT)),
    alone_bus_p50_minus_naive_ms: beyondNaive('bus'),
    alone_rest_p50_minus_naive_ms: beyondNaive('rest'),
    ten_million_over_ten_thousand: growth,
  };
}

/** What a call may cost the node's process at 64 in flight, in microseconds of CPU. */
const CPU_GOALS = { bus: { most: 400 }, rest: { most: 700 } };

/** Each ratio, and what the node spends on a call, beside its goal. */
export function judged(ratios, rows) {
  const cpu = Object.entries(CPU_GOALS).map(([door, goal]) => {
    const ours = rows.filter(
      ({ name, in_flight }) => in_flight === BUSY && Object.values(NEXUS[door]).includes(name),
    );
    const spent = ours.map(({ nexus_cpu_us }) => nexus_cpu_us ?? null);
    const value = spent.length === 0 || spent.includes(null) ? null : Math.max(...spent);
    return beside(`nexus_cpu_us_${door}`, value, goal);
  });
  return [...Object.entries(ratios).map(([name, value]) => beside(name, value, GOALS[name])), ...cpu];
}

function beside(ratio, value, { least, most }) {
  const goal = least === undefined ? `≤ ${most}` : `≥ ${least}`;
  const isMet = least === undefined ? value <= most : value >= least;
  return { ratio, value, goal, met: value === null ? '' : isMet ? 'yes' : 'no' };
}

const quotient = (one, other) =>
  one === undefined || other === undefined ? null : Number((one / other).toFixed(2));
const difference = (one, other) =>
  one === undefined || other === undefined ? null : Number((one - other).toFixed(2));
