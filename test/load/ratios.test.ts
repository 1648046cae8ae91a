import { describe, expect, test } from '@jest/globals';
import { judged, ratiosOf, type Row } from './ratios.mjs';

const busy = (name: string, calls_per_s: number, nexus_cpu_us?: number): Row => ({
  name,
  in_flight: 64,
  calls_per_s,
  p50_ms: 20,
  ...(nexus_cpu_us !== undefined && { nexus_cpu_us }),
});
const alone = (name: string, p50_ms: number): Row => ({ name, in_flight: 1, calls_per_s: 300, p50_ms });

const ALL: Row[] = [
  busy('naive pipeline', 1_200),
  busy('naive claim pipeline', 600),
  busy('batched pipeline', 4_000),
  busy('batched claim pipeline', 2_000),
  busy('BullMQ, appendfsync always', 800),
  busy('BullMQ, appendfsync no', 1_600),
  busy('MCP direct', 500),
  busy('Nexus over the bus, serve', 2_400, 390),
  busy('Nexus over the bus, claim', 1_200, 410),
  busy('Nexus over REST, serve', 1_320, 600),
  busy('Nexus over REST, claim', 900, 700),
  alone('naive pipeline', 2.1),
  alone('naive claim pipeline', 3.4),
  alone('Nexus over the bus, serve', 3),
  alone('Nexus over REST, serve', 4.35),
];

describe('the ratios of a run', () => {
  test('compare throughput at 64 in flight and latency alone, each delivery with its own pipeline', () => {
    expect(ratiosOf(ALL, 1.1)).toEqual({
      serve_bus_over_batched: 0.6,
      claim_bus_over_batched_claim: 0.6,
      rest_over_naive: 1.1,
      rest_over_bus: 0.55,
      bus_over_bullmq_durable: 3,
      bus_over_bullmq: 1.5,
      bus_over_mcp_direct: 4.8,
      alone_bus_p50_minus_naive_ms: 0.9,
      alone_rest_p50_minus_naive_ms: 2.25,
      ten_million_over_ten_thousand: 1.1,
    });
  });

  test('are null where a peer is absent, and of claim where serve is', () => {
    const rows = ALL.filter(({ name }) => !/BullMQ|, serve/.test(name));
    expect(ratiosOf(rows)).toMatchObject({
      serve_bus_over_batched: null,
      rest_over_naive: 1.5,
      rest_over_bus: 0.75,
      bus_over_bullmq_durable: null,
      bus_over_mcp_direct: 2.4,
      alone_bus_p50_minus_naive_ms: null,
      ten_million_over_ten_thousand: null,
    });
  });

  test('stand beside their goals, with what the node spends on a call', () => {
    const met = (rows: Row[]) =>
      Object.fromEntries(judged(ratiosOf(rows), rows).map(({ ratio, met }) => [ratio, met]));
    expect(met(ALL)).toMatchObject({
      rest_over_bus: 'no',
      bus_over_mcp_direct: 'yes',
      alone_bus_p50_minus_naive_ms: 'yes',
      ten_million_over_ten_thousand: '',
      nexus_cpu_us_bus: 'no',
      nexus_cpu_us_rest: 'yes',
    });
    expect(met([])).toMatchObject({ rest_over_naive: '', nexus_cpu_us_bus: '' });
  });
});
