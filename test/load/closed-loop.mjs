/**
 * Keeps `inFlight` calls under way until `calls` were made, or for `seconds`, and answers what came out. The calls under
 * way at the end are waited for and count.
 * @param {{calls?: number, seconds?: number, inFlight: number, call: () => Promise<void>}} plan
 * @returns {Promise<{calls: number, calls_per_s: number, p50_ms: number, p99_ms: number}>}
 */
export async function closedLoop({ calls = Infinity, seconds = Infinity, inFlight, call }) {
  const latencies = [];
  let begun = 0;
  const started = performance.now();
  const until = started + seconds * 1_000;
  const lane = async () => {
    for (let from = performance.now(); from < until && begun < calls; from = performance.now()) {
      begun += 1;
      await call();
      latencies.push(performance.now() - from);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
  const took = (performance.now() - started) / 1_000;
  const made = latencies.length;
  return {
    calls: made,
    calls_per_s: made / took,
    p50_ms: quantile(latencies, 0.5),
    p99_ms: quantile(latencies, 0.99),
  };
}

/** The value below which `share` of them lie. */
export function quantile(values, share) {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

export const median = (values) => quantile(values, 0.5);
