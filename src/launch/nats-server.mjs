import { execFileSync } from 'node:child_process';
import { accessSync, constants, mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { delimiter, join } from 'node:path';
import { startChild, whenReady } from './child.mjs';
import { freePort } from './port.mjs';

/** The nats-server binary: `NATS_SERVER_BIN`, the PATH, or where Debian puts it. Undefined when there is none. */
export function findNatsServer() {
  const { NATS_SERVER_BIN, PATH = '' } = process.env;
  if (NATS_SERVER_BIN) return NATS_SERVER_BIN;
  const folders = [...PATH.split(delimiter), '/usr/sbin', '/usr/local/bin', '/usr/local/sbin'];
  return folders.map((folder) => join(folder, 'nats-server')).find(isExecutable);
}

/** Installs nats-server where that is possible without asking: Debian, as root. Throws with what to do elsewhere. */
export function installNatsServer() {
  const isRoot = process.getuid?.() === 0;
  if (!isRoot || !isExecutable('/usr/bin/apt-get')) {
    throw new Error(
      'nats-server was not found. Install it (Debian: sudo apt-get install nats-server; macOS: brew install nats-server), ' +
        'or set NATS_SERVER_BIN to its binary, or NATS_URL to a server that runs already.',
    );
  }
  const apt = (...args) =>
    execFileSync('apt-get', args, {
      stdio: 'pipe',
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    });
  try {
    apt('install', '-y', '--no-install-recommends', 'nats-server');
  } catch {
    apt('update');
    apt('install', '-y', '--no-install-recommends', 'nats-server');
  }
}

/**
 * Starts a nats-server on the loopback address; port 0 takes a free one. It ends with this process, unless it `outlives` it.
 * `configOf` answers its configuration for an address and a folder of its own.
 * @param {{dir: string, port: number, configOf: (place: {listen: string, dir: string}) => string, log?: string,
 *   outlives?: boolean, onStarted?: (service: object) => void}} options
 */
export async function startNats({ dir, port: wanted, configOf, ...childOptions }) {
  const binary = findNatsServer();
  if (!binary) throw new Error('nats-server was not found');
  const port = wanted === 0 ? await freePort() : wanted;
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const config = join(dir, 'nats.conf');
  const text = configOf({ listen: `127.0.0.1:${port}`, dir: join(dir, 'jwt') });
  writeFileSync(config, text, { mode: 0o600 });
  const service = startChild(binary, ['-c', config], childOptions);
  await whenReady(service, 'nats-server', () => greets(port));
  return { ...service, port, url: `nats://127.0.0.1:${port}` };
}

/** Whether somebody on this port speaks first, and says INFO. */
function greets(port) {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    const answer = (value) => {
      socket.destroy();
      resolve(value);
    };
    socket.setTimeout(1_000, () => answer(false));
    socket.once('error', () => answer(false));
    socket.once('data', (chunk) => answer(chunk.toString('utf8').startsWith('INFO ')));
  });
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
