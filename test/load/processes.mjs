import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

/** Linux counts in ticks of 10 ms. Elsewhere nothing is counted, and what is made of it is null. */
const TICK_US = 10_000;
const isCounted = existsSync('/proc/stat');

/** What every process, and the machine as a whole, has used of the processors up to now, in microseconds. */
export function snapshot() {
  const processes = new Map();
  if (!isCounted) return { at: performance.now(), processes, busy: null };
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const fields = statOf(name);
    if (!fields) continue;
    const [user, system, endedUser, endedSystem] = fields.slice(11, 15).map(Number);
    // those of its children that have ended are the parent's
    const us = (user + system + endedUser + endedSystem) * TICK_US;
    processes.set(Number(name), { parent: Number(fields[1]), us });
  }
  const [user, nice, system, , , , , stolen] = readFileSync('/proc/stat', 'utf8')
    .split('\n', 1)[0]
    .split(/\s+/)
    .slice(1)
    .map(Number);
  return { at: performance.now(), processes, busy: (user + nice + system + stolen) * TICK_US };
}

/** Microseconds that the process `root` and all below it used between two snapshots; null where they are not counted. */
export function treeMicroseconds(before, after, root) {
  if (!isCounted) return null;
  const used = ({ processes }) => {
    const below = [root];
    for (const pid of below)
      for (const [child, { parent }] of processes) if (parent === pid) below.push(child);
    return below.reduce((sum, pid) => sum + (processes.get(pid)?.us ?? 0), 0);
  };
  return used(after) - used(before);
}

/** Which share of the machine's processors others than this process and all below it used, 0 to 1; 0 where it is unknown. */
export function foreignShare(before, after) {
  if (!isCounted) return 0;
  const capacity = (after.at - before.at) * 1_000 * availableParallelism();
  const own = treeMicroseconds(before, after, process.pid);
  return Math.max(0, (after.busy - before.busy - own) / capacity);
}

/** Resident memory of a process, in MiB. */
export function residentMiB(pid) {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024;
}

/** The fields of /proc/<pid>/stat from the third on; undefined when the process is gone. */
function statOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1).split(' ');
  } catch {
    return undefined;
  }
}
