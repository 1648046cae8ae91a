/**
 * `npm run bench`: Nexus beside its peers on this machine, and how it grows. It brings up what it needs and removes it
 * again, asserts nothing, and keeps the whole result as `bench-results/latest.json`; docs/benchmarks.md says how to read it.
 *
 * - `--quick`: only with 64 calls in flight, in under five minutes
 * - `--rounds N`, `--seconds N`: how often and for how long each peer is measured at each number of calls in flight
 * - `--markdown`: tables as Markdown
 * - `--only calls|discovery|effects|growth|mesh|prune|sweep`: that alone; nothing is kept. `--tasks N`: in a table of so many
 * - `--gathers N`: how often `--only mesh` asks a thousand services
 * - `--out FOLDER`: where the result is kept, instead of `bench-results`
 * - `--profile`: no figures, but where the time of the Nexus node and its runner goes
 */
import { parseArgs } from 'node:util';
import { benchCalls } from './calls-bench.mjs';
import { benchDiscovery } from './discovery-bench.mjs';
import { benchEffects } from './effects-bench.mjs';
import { benchGrowth, TEN_MILLION } from './growth-bench.mjs';
import { benchMesh } from './mesh-bench.mjs';
import { profileCalls } from './profile-bench.mjs';
import { benchPrune } from './prune-bench.mjs';
import { judged, ratiosOf } from './ratios.mjs';
import { forTheEye, keep, printTable, RESULTS } from './report.mjs';
import { closeAll, Stage } from './stage.mjs';
import { benchSweep } from './sweep-bench.mjs';

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    'warm-up': { type: 'string', default: '3000' },
    markdown: { type: 'boolean', default: false },
    only: { type: 'string' },
    tasks: { type: 'string' },
    gathers: { type: 'string' },
    out: { type: 'string', default: RESULTS },
    profile: { type: 'boolean', default: false },
  },
});
const { quick, markdown } = values;
const plan = {
  // alone comes last: by then every process is warm
  levels: quick ? [64] : [16, 64, 256, 1],
  rounds: Number(values.rounds ?? (quick ? 3 : 5)),
  seconds: Number(values.seconds ?? (quick ? 2 : 3)),
  // a disturbed round is measured again
  tries: quick ? 2 : 3,
  warmUp: Number(values['warm-up']),
  say: (what) => console.log(`${new Date().toTimeString().slice(0, 8)}  ${what}`),
};
const tasks = (fallback) => Number(values.tasks ?? fallback);
const print = (rows) => printTable(rows, { markdown });

/** What `--only` names. */
const SECTIONS = {
  calls: async () => printCalls(await benchCalls(plan)),
  growth: async () => printGrowth(await benchGrowth({ ...plan, tasks: tasks(TEN_MILLION) })),
  discovery: () => onNexus(benchDiscovery),
  effects: () => onNexus(benchEffects),
  mesh: () => onNexus(benchMesh),
  prune: () => onNexus(benchPrune),
  sweep: () => onNexus(benchSweep),
};

// heard every time: npm passes on the Ctrl-C that the terminal has sent us already
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => void end(130));
main().then(
  () => end(0),
  (fault) => {
    if (ending) return;
    console.error(fault);
    void end(1);
  },
);

let ending;
function end(code) {
  ending ??= closeAll().finally(() => process.exit(code));
  return ending;
}

async function main() {
  if (values.profile) return profileCalls(plan, { print });
  if (values.only === undefined) return benchAll();
  const section = SECTIONS[values.only];
  if (!section) throw new Error(`--only is one of ${Object.keys(SECTIONS).join(', ')}`);
  await section();
}

/** The whole run; `--quick` leaves growth out. */
async function benchAll() {
  const at = new Date().toISOString();
  const { machine, rows } = await benchCalls(plan);
  const growth = quick ? undefined : await benchGrowth({ ...plan, tasks: tasks(TEN_MILLION) });
  printCalls({ machine, rows });
  if (growth) printGrowth(growth);
  const ratios = ratiosOf(rows, growth?.ratio);
  print(judged(ratios, rows));
  keep(values.out, 'latest.json', { machine, at, rows, ratios, ...(growth && { growth: growth.rows }) });
}

function printCalls({ machine, rows }) {
  console.log(`\n${Object.values(machine).join(' · ')}`);
  print(rows.map(forTheEye));
  const disturbed = rows.reduce((sum, row) => sum + row.disturbed_rounds, 0);
  const all = rows.length * plan.rounds;
  if (disturbed > all / 10)
    console.log(
      `Other programs disturbed ${disturbed} of ${all} measurements: this is a sketch, not a result.\n`,
    );
}

function printGrowth({ rows }) {
  print(rows);
}

async function onNexus(bench) {
  const stage = await Stage.open();
  const node = await stage.startNexus();
  const gathers = Number(values.gathers ?? (quick ? 50 : 1_000));
  await bench(stage, node, stage.product, { tasks: tasks(1_000_000), gathers, print });
  await stage.close();
}
