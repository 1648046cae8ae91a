import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { measure, NEXUS_PEERS, openContestant, warm } from './contestants.mjs';
import { profileTables } from './profile-table.mjs';
import { RESULTS } from './report.mjs';
import { Stage } from './stage.mjs';

const PRELOAD = new URL('profile-on-signal.mjs', import.meta.url).href;
const IN_FLIGHT = 64;
const WITHIN_MS = 30_000;

/** A CPU profile of the node and of the runner for each door and delivery, with 64 calls in flight, and its top functions. */
export async function profileCalls({ seconds, warmUp, say }, { print }) {
  mkdirSync(RESULTS, { recursive: true });
  // the node and the runners inherit it
  process.env.BENCH_PROFILE_DIR = RESULTS;
  const stage = await Stage.open();
  await stage.startNexus({ preload: PRELOAD });
  for (const peer of NEXUS_PEERS) {
    const contestant = await openContestant(stage, peer, { handlerFlags: ['--import', PRELOAD] });
    if (contestant.absent) continue;
    say(`Profiling ${peer.name}`);
    await warm(contestant, warmUp);
    const { nexus, handler } = contestant.processes;
    for (const pid of [nexus, handler]) process.kill(pid, 'SIGALRM');
    const { cpu_us_by_process: cpu } = await measure(contestant, { inFlight: IN_FLIGHT, seconds });
    await show('node', nexus, cpu.nexus);
    await show('runner', handler, cpu.handler);

    async function show(title, pid, cpuUs) {
      const file = join(RESULTS, `${peer.door}-${peer.delivery}-${title}.cpuprofile`);
      const tables = profileTables(await finished(pid, file), cpuUs);
      console.log(`\n${peer.name}: the ${title}, ${cpuUs.toFixed(0)} us a call. ${file}`);
      print(tables.groups);
      print(tables.functions);
    }
  }
  await stage.close();
}

/** Ends the profile of a process, and answers it when it is written. */
async function finished(pid, file) {
  const written = join(RESULTS, `${pid}.cpuprofile`);
  process.kill(pid, 'SIGALRM');
  for (const until = Date.now() + WITHIN_MS; !existsSync(written); await pause(50))
    if (Date.now() > until) throw new Error(`No profile of process ${pid}`);
  renameSync(written, file);
  return JSON.parse(readFileSync(file, 'utf8'));
}
