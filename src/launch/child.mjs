import { spawn } from 'node:child_process';

/**
 * A service that runs beside us: its process, how to stop it, and what it last said. `detached` keeps a terminal's Ctrl-C
 * from it, so that the starter decides the order in which things stop.
 * @param {string} command
 * @param {string[]} args
 * @param {import('node:child_process').SpawnOptions & {stopSignal?: NodeJS.Signals}} options
 */
export function startChild(command, args, { stopSignal = 'SIGTERM', ...options } = {}) {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], detached: true, ...options });
  const tail = [];
  const hear = (chunk) => {
    tail.push(chunk);
    if (tail.length > 50) tail.shift();
  };
  child.stdout?.on('data', hear);
  child.stderr?.on('data', hear);
  const ended = new Promise((resolve) => {
    child.once('error', (fault) => resolve(fault.message));
    child.once('exit', (code, signal) => resolve(signal ?? `code ${code}`));
  });
  return {
    child,
    pid: child.pid,
    ended,
    /** The last output, for a message about what went wrong. */
    tail: () =>
      Buffer.concat(tail.map((chunk) => Buffer.from(chunk)))
        .toString('utf8')
        .slice(-4_000),
    /** Asks it to stop and waits; ends it by force after `graceMs`. */
    async stop(graceMs = 10_000) {
      if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
      child.kill(stopSignal);
      const forced = setTimeout(() => child.kill('SIGKILL'), graceMs);
      await ended;
      clearTimeout(forced);
    },
    kill: () => child.kill('SIGKILL'),
  };
}

/**
 * Asks `probe` every 25 ms until it answers true. Throws when the child ends first, or after `timeoutMs`.
 * @param {{ended: Promise<string>, tail: () => string}} service
 * @param {string} name
 * @param {() => Promise<boolean>} probe
 */
export async function whenReady(service, name, probe, timeoutMs = 60_000) {
  let ended;
  void service.ended.then((how) => (ended = how));
  for (const until = Date.now() + timeoutMs; Date.now() < until;) {
    if (ended !== undefined) throw new Error(`${name} ended (${ended}):\n${service.tail()}`);
    if (await probe()) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error(`${name} was not ready within ${timeoutMs / 1000} s:\n${service.tail()}`);
}
