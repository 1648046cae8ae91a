import { nexusName } from './peers/nexus.mjs';

/** What each ratio should be (issue of the benchmark): at least, or at most. */
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
const NAIVE = { serve: 'naive pipeline', claim: 'naive claim pipeline' };

/**
 * The ratios of a run by its rows: throughput at 64 in flight, latency alone. One whose peer is absent is null. Where a
 * ratio speaks of no delivery it is that of `serve` or, where that is absent, of `claim`; a pipeline is always that of
 * the same delivery, and REST is judged by the delivery in which it does worse.
 */
export function ratiosOf(rows, growth = null) {
  const at = (name, inFlight) => rows.find((row) => row.name === name && row.in_flight === inFlight);
  const rate = (name) => at(name, BUSY)?.calls_per_s;
  const alone = (name) => at(name, ALONE)?.p50_ms;
  const delivery = rows.some(({ name }) => name === nexusName('bus', 'serve')) ? 'serve' : 'claim';
  const bus = rate(nexusName('bus', delivery));
  const worst = (quotientOf) => {
    const quotients = ['serve', 'claim'].map(quotientOf).filter((value) => value !== null);
    return quotients.length === 0 ? null : Math.min(...quotients);
  };
  const beyondNaive = (door) => difference(alone(nexusName(door, delivery)), alone(NAIVE[delivery]));
  return {
    serve_bus_over_batched: quotient(rate(nexusName('bus', 'serve')), rate('batched pipeline')),
    claim_bus_over_batched_claim: quotient(rate(nexusName('bus', 'claim')), rate('batched claim pipeline')),
    rest_over_naive: worst((by) => quotient(rate(nexusName('rest', by)), rate(NAIVE[by]))),
    rest_over_bus: worst((by) => quotient(rate(nexusName('rest', by)), rate(nexusName('bus', by)))),
    bus_over_bullmq_durable: quotient(bus, rate('BullMQ, appendfsync always')),
    bus_over_bullmq: quotient(bus, rate('BullMQ, appendfsync no')),
    bus_over_mcp_direct: quotient(bus, rate('MCP direct')),
    alone_bus_p50_minus_naive_ms: beyondNaive('bus'),
    alone_rest_p50_minus_naive_ms: beyondNaive('rest'),
    ten_million_over_ten_thousand: growth,
  };
}

/** Each ratio beside its goal. */
export function judged(ratios) {
  return Object.entries(ratios).map(([ratio, value]) => {
    const { least, most } = GOALS[ratio];
    const goal = least === undefined ? `≤ ${most}` : `≥ ${least}`;
    const isMet = least === undefined ? value <= most : value >= least;
    return { ratio, value, goal, met: value === null ? '' : isMet ? 'yes' : 'no' };
  });
}

const quotient = (one, other) =>
  one === undefined || other === undefined ? null : Number((one / other).toFixed(2));
const difference = (one, other) =>
  one === undefined || other === undefined ? null : Number((one - other).toFixed(2));
