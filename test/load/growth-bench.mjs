import { NEXUS_PEERS, openContestant, warm } from './contestants.mjs';
import { measureInTurn } from './rounds.mjs';
import { Stage } from './stage.mjs';
import { fillSettled, settle, withDatabase } from './table-fill.mjs';

export const TEN_MILLION = 10_000_000;
const TEN_THOUSAND = 10_000;
const TASKS_EACH = 100;
const LEVELS = [64, 1];

/**
 * The same calls to two deployments that differ in one thing: one has ten thousand settled tasks, the other `tasks`.
 * They are measured in turn. The ratio is that of the median latencies, the worst of all doors, deliveries and loads;
 * null where fewer than ten million tasks were asked for.
 */
export async function benchGrowth({ tasks, ...plan }) {
  const { warmUp, say } = plan;
  const small = await openFilled(TEN_THOUSAND, say);
  const large = await openFilled(tasks, say);
  const contestants = [];
  for (const peer of NEXUS_PEERS) {
    for (const { stage, size } of [small, large]) {
      const contestant = await openContestant(stage, peer);
      if (!contestant.absent) contestants.push({ ...contestant, name: nameAt(peer.name, size) });
    }
  }
  for (const contestant of contestants) await warm(contestant, warmUp);
  const measured = await measureInTurn(contestants, { ...plan, levels: LEVELS });
  await Promise.all([small.stage.close(), large.stage.close()]);
  const rows = compared(measured, tasks);
  const ratio = Math.max(...rows.map(({ p50_ratio }) => p50_ratio));
  return { rows, ratio: tasks >= TEN_MILLION ? ratio : null };
}

async function openFilled(size, say) {
  say(`Starting Nexus with ${size.toLocaleString('en')} tasks`);
  const stage = await Stage.open();
  await stage.startNexus();
  const { product } = stage;
  const registration = await product.registerRunner('before');
  const like = await product.createRun(registration.executor.public_id);
  await withDatabase(stage, async (client) => {
    await fillSettled(client, { like, runs: size / TASKS_EACH, tasksEach: TASKS_EACH, days: 1 });
    await settle(client);
  });
  return { stage, size };
}

const nameAt = (name, size) => `${name} at ${size}`;

function compared(measured, tasks) {
  const of = (name, size, inFlight) =>
    measured.find((row) => row.name === nameAt(name, size) && row.in_flight === inFlight);
  return NEXUS_PEERS.flatMap(({ name }) =>
    LEVELS.flatMap((inFlight) => {
      const [small, large] = [of(name, TEN_THOUSAND, inFlight), of(name, tasks, inFlight)];
      if (!small) return [];
      return [
        {
          name,
          in_flight: inFlight,
          p50_ms_at_10000: small.p50_ms,
          [`p50_ms_at_${tasks}`]: large.p50_ms,
          p50_ratio: Number((large.p50_ms / small.p50_ms).toFixed(2)),
          p99_ms_at_10000: small.p99_ms,
          [`p99_ms_at_${tasks}`]: large.p99_ms,
        },
      ];
    }),
  );
}
