import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, statSync, truncateSync } from 'node:fs';

const LOG_BYTES_MAX = 10 * 1024 * 1024;
const TAIL_CHARACTERS = 4_000;

/** Waits until its standard input ends, as it does when we end, however that is. Then it ends $2 by $1 and removes the rest. */
const WATCH = `read -r _
kill -s "$1" "$2"
pid=$2 tries=0
shift 2
while kill -0 "$pid" && [ "$tries" -lt 50 ]; do sleep 0.1; tries=$((tries + 1)); done
[ "$#" -eq 0 ] || rm -rf "$@"`;

/**
 * A service that runs beside us: its process, how to stop it, and what it last said. It is detached, which keeps a
 * terminal's Ctrl-C from it, so that the starter decides the order in which things stop.
 *
 * - `log`: the file it writes to; without one we hear it ourselves
 * - `onStarted`: told of the service as soon as its process is there, long before it is ready
 * - `outlives`: it goes on when we are killed, and the caller will find it again. Else it ends with us, and `scratch`, its
 *   worthless folders, with it
 * @param {string} command
 * @param {string[]} args
 * @param {import('node:child_process').SpawnOptions & {stopSignal?: NodeJS.Signals, log?: string, outlives?: boolean,
 *   scratch?: string[], onStarted?: (service: object) => void}} options
 */
export function startChild(command, args, options = {}) {
  const { stopSignal = 'SIGTERM', log, outlives = false, scratch = [], onStarted, ...spawnOptions } = options;
  const output = log === undefined ? undefined : openLog(log);
  const sink = output?.descriptor ?? 'pipe';
  const child = spawn(command, args, { stdio: ['ignore', sink, sink], detached: true, ...spawnOptions });
  output?.close();
  const heard = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk) => {
      heard.push(chunk);
      if (heard.length > 50) heard.shift();
    });
  }
  const ended = new Promise((resolve) => {
    child.once('error', (fault) => resolve(fault.message));
    child.once('exit', (code, signal) => resolve(signal ?? `code ${code}`));
  });
  const isRunning = () => child.pid !== undefined && child.exitCode === null && child.signalCode === null;
  const service = {
    child,
    pid: child.pid,
    ended,
    isRunning,
    /** Its last output, for a message about what went wrong. */
    tail: () => (output?.read() ?? Buffer.concat(heard).toString('utf8')).slice(-TAIL_CHARACTERS).trimEnd(),
    /** Asks it to stop and waits; ends it by force after `graceMs`. */
    async stop(graceMs = 10_000) {
      if (!isRunning()) return;
      child.kill(stopSignal);
      const forced = setTimeout(() => child.kill('SIGKILL'), graceMs);
      await ended;
      clearTimeout(forced);
    },
    kill: () => child.kill('SIGKILL'),
  };
  if (!outlives && child.pid !== undefined) watch(service, stopSignal, scratch);
  onStarted?.(service);
  return service;
}

/**
 * Asks `probe` every 25 ms until it answers true. Throws when the child ends first, or after `timeoutMs`; then it runs no
 * longer.
 * @param {ReturnType<typeof startChild>} service
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
  service.kill();
  throw new Error(`${name} was not ready within ${timeoutMs / 1000} s:\n${service.tail()}`);
}

/** A process that ends the service when we were killed and could not. Where there is no shell, nothing watches. */
function watch(service, stopSignal, scratch) {
  const args = ['-c', WATCH, 'watch', stopSignal.replace('SIG', ''), String(service.pid), ...scratch];
  const watcher = spawn('/bin/sh', args, { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  watcher.once('error', () => {});
  watcher.unref();
  watcher.stdin.unref();
  void service.ended.then(() => watcher.kill('SIGKILL'));
}

/** A log file, for its owner alone. It starts anew when it has become large. */
function openLog(file) {
  const descriptor = openSync(file, 'a', 0o600);
  if (statSync(file).size > LOG_BYTES_MAX) truncateSync(file);
  const { size } = statSync(file);
  return {
    descriptor,
    close: () => closeSync(descriptor),
    read: () => readFileSync(file).subarray(size).toString('utf8'),
  };
}
