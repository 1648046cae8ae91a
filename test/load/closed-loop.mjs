import { readFileSync } from 'node:fs';

/**
 * Makes `calls` calls with `inFlight` under way at any time, and answers what came out.
 * @param {{calls: number, inFlight: number, call: (index: number) => Promise<void>}} plan
 * @returns {Promise<{calls_per_s: number, p50_ms: number, p99_ms: number}>}
 */
export async function closedLoop({ calls, inFlight, call }) {
  const latencies = new Float64Array(calls);
  let next = 0;
  const started = performance.now();
  const lane = async () => {
    for (let index = next++; index < calls; index = next++) {
      const from = performance.now();
      await call(index);
      latencies[index] = performance.now() - from;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
  const seconds = (performance.now() - started) / 1000;
  latencies.sort();
  const at = (share) => latencies[Math.min(calls - 1, Math.floor(calls * share))];
  return { calls_per_s: calls / seconds, p50_ms: at(0.5), p99_ms: at(0.99) };
}

/** CPU microseconds a process has used, user and system; Linux counts in ticks of 10 ms. */
export function cpuMicroseconds(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}

/** Resident memory of a process, in MiB. */
export function residentMiB(pid) {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024;
}

export const median = (values) =>
  [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)];
