/**
 * Imported by a process before its program: SIGALRM begins a CPU profile, the next one ends it and writes it to a file
 * below BENCH_PROFILE_DIR, named for the process. Starting up and growing warm are thus not in it. (SIGUSR2 would stop the node.)
 */
import { renameSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { join } from 'node:path';

const INTERVAL_US = 250;
const file = join(process.env.BENCH_PROFILE_DIR, `${process.pid}.cpuprofile`);
let session;

process.on('SIGALRM', () => void (session ? finish() : begin()));

async function begin() {
  session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: INTERVAL_US });
  await session.post('Profiler.start');
}

async function finish() {
  const { profile } = await session.post('Profiler.stop');
  session.disconnect();
  session = undefined;
  writeFileSync(`${file}.part`, JSON.stringify(profile));
  renameSync(`${file}.part`, file);
}
