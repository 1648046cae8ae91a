import { measure } from './contestants.mjs';
import { median } from './closed-loop.mjs';

/** A round in which others had this share of the processors is measured again. */
const MOST_FOREIGN = 0.2;

/**
 * Measures each contestant with each number of calls in flight, `rounds` times in turn, so that what drifts drifts for
 * all; answers a row for each pair, of medians. The levels are measured in the order given.
 */
export async function measureInTurn(contestants, { levels, rounds, seconds, tries, say }) {
  const rows = [];
  for (const inFlight of levels) {
    const measured = new Map(contestants.map((contestant) => [contestant, []]));
    for (let round = 1; round <= rounds; round += 1) {
      say(`${inFlight} in flight, round ${round} of ${rounds}`);
      for (const contestant of contestants)
        measured
          .get(contestant)
          .push(await undisturbed(() => measure(contestant, { inFlight, seconds }), tries));
    }
    for (const [{ name }, results] of measured) rows.push(rowOf(name, inFlight, results));
  }
  return rows;
}

/** Measures until others left the machine alone, `most` times at most; then the least disturbed one stands. */
async function undisturbed(work, most) {
  const tries = [];
  do tries.push(await work());
  while (tries.at(-1).foreign >= MOST_FOREIGN && tries.length < most);
  return tries.reduce((least, one) => (one.foreign < least.foreign ? one : least));
}

function rowOf(name, inFlight, results) {
  const of = (read) => {
    const values = results.map(read).filter((value) => value !== null);
    return values.length === 0 ? null : median(values);
  };
  const processes = Object.keys(results[0].cpu_us_by_process);
  const byProcess = Object.fromEntries(
    processes.map((process) => [
      process,
      rounded(
        of((result) => result.cpu_us_by_process[process]),
        0,
      ),
    ]),
  );
  const cpu = Object.values(byProcess);
  return {
    name,
    in_flight: inFlight,
    calls_per_s: rounded(
      of((result) => result.calls_per_s),
      0,
    ),
    p50_ms: rounded(
      of((result) => result.p50_ms),
      2,
    ),
    p99_ms: rounded(
      of((result) => result.p99_ms),
      2,
    ),
    cpu_us: cpu.includes(null) ? null : cpu.reduce((sum, us) => sum + us, 0),
    ...('nexus' in byProcess && { nexus_cpu_us: byProcess.nexus }),
    cpu_us_by_process: byProcess,
    statements: rounded(
      of((result) => result.statements),
      2,
    ),
    commits: rounded(
      of((result) => result.commits),
      2,
    ),
    disturbed_rounds: results.filter(({ foreign }) => foreign >= MOST_FOREIGN).length,
  };
}

const rounded = (value, digits) => (value === null ? null : Number(value.toFixed(digits)));
