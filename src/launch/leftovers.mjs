import { existsSync, readFileSync } from 'node:fs';

/** Whether there is a process of this id, be it one that ended and that its parent has not asked about yet. */
function exists(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (fault) {
    return fault.code === 'EPERM';
  }
}

/** Whether a process of this id still works; one that ended has no command line any more. */
const works = (pid) => exists(pid) && commandLine(pid) !== '';

/** Waits until no process has this id, for `timeoutMs` at most, and says whether it is so. */
export async function isGone(pid, timeoutMs, isThere = exists) {
  for (const until = Date.now() + timeoutMs; isThere(pid);) {
    if (Date.now() > until) return false;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return true;
}

/**
 * Ends what a killed start left running, the last first: the recorded processes, where the command line still is the
 * recorded one, so that nobody else's process is ever touched.
 * @param {import('./home.mjs').Home} home
 */
export async function endLeftovers(home) {
  for (const { pid, mark, signal } of (home.readJson('children.json') ?? []).reverse()) {
    if (!works(pid) || !commandLine(pid).includes(mark)) continue;
    process.kill(pid, signal);
    if (await isGone(pid, 8_000, works)) continue;
    process.kill(pid, 'SIGKILL');
    await isGone(pid, 2_000, works);
  }
}

/** The pid of the start that uses this home just now; undefined when there is none. */
export function runningStart(home) {
  const pid = Number(home.read('start.pid') ?? 0);
  return pid > 0 && pid !== process.pid && works(pid) && commandLine(pid).includes('start.mjs')
    ? pid
    : undefined;
}

/** A process's command line, where the system tells it (Linux); elsewhere whatever is asked for is taken to be in it. */
function commandLine(pid) {
  if (!existsSync('/proc/self/cmdline')) return { includes: () => true };
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}
