/**
 * `npm start`: PostgreSQL, NATS, a node and a local runner on this machine, in this order, and all of it stopped in the
 * reverse order. `DATABASE_URL` and `NATS_URL` replace the embedded parts, `NEXUS_LOCAL_RUNNER=off` leaves the runner out.
 */
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { startChild, whenReady } from './child.mjs';
import { Home } from './home.mjs';
import { endLeftovers, runningStart } from './leftovers.mjs';
import { startNats } from './nats-server.mjs';
import { isFree } from './port.mjs';
import { startPostgres } from './postgres.mjs';
import { announcedAt, provision } from './provision.mjs';

// compiled before we are started
const { loadBusKeys } = await import('../../dist/src/bus/grants/bus-keys-file.js');
const { serverConfig } = await import('../../dist/src/bus/grants/server-config.js');

const TOKEN_MODE = 'token mode: whoever may listen there reads secrets and results; keep it private';
const RUNNER_PAUSE_MS = { first: 500, most: 30_000 };
const env = process.env;
const program = (path) => fileURLToPath(new URL(`../../dist/src/${path}`, import.meta.url));
const home = new Home(env.NEXUS_HOME);
const isManaged = env.NEXUS_BUS_AUTH !== 'token';
const services = [];
let stopping = false;

// heard every time: npm passes on the Ctrl-C that the terminal has sent us already
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => void stop(0));
// npm that is killed leaves us behind: then stop as well
const parent = process.ppid;
if (env.npm_lifecycle_event) setInterval(() => process.ppid !== parent && void stop(0), 500).unref();

start().catch((fault) => {
  if (!stopping) process.stderr.write(`\nnexus: ${fault.message}\n`);
  void stop(1);
});

async function start() {
  const other = runningStart(home);
  if (other !== undefined) {
    process.stderr.write(`nexus: already running with ${home.folder} (pid ${other})\n`);
    process.exit(1);
  }
  home.write('start.pid', String(process.pid));
  rmSync(home.path('ready.json'), { force: true });
  await endLeftovers(home);

  const databaseUrl = env.DATABASE_URL || (await step('PostgreSQL', startEmbeddedPostgres));
  const natsUrl = env.NATS_URL || (await step('NATS', startEmbeddedNats));
  home.write('database.url', databaseUrl);
  const isFirstStart = home.read('platform.secret') === undefined;
  const url = await step('Nexus', () => startNode(databaseUrl, natsUrl));
  const withRunner = env.NEXUS_LOCAL_RUNNER !== 'off';
  const { runnerId } = await provision(home, url, { withRunner, isManaged });
  if (withRunner) await step('Local runner', () => startRunner(url, natsUrl, runnerId));

  if (stopping) return;
  home.writeJson('ready.json', {
    http_url: url,
    docs_url: `${url}/docs`,
    nats_url: natsUrl,
    pid: process.pid,
    local: {
      agent_secret_file: home.path('agent.secret'),
      human_secret_file: home.path('human.secret'),
      runner_executor_public_id: withRunner ? runnerId : null,
    },
  });
  if (isFirstStart) {
    process.stdout.write(`\nPlatform secret (shown this once): ${home.read('platform.secret')}\n`);
  }
  welcome(url, natsUrl, withRunner ? runnerId : undefined);
}

async function startEmbeddedPostgres() {
  const port = await portOf('NEXUS_POSTGRES_PORT', 7432);
  const postgres = await startPostgres({
    dataDir: home.path('postgres'),
    port,
    mode: 'durable',
    log: logOf('postgres'),
    outlives: true,
    onStarted: (service) =>
      mustRun('PostgreSQL', service, { mark: `-c port=${port} -c listen_addresses`, signal: 'SIGINT' }),
  });
  return postgres.url;
}

async function startEmbeddedNats() {
  const port = await portOf('NEXUS_NATS_PORT', 7422);
  const keys = isManaged ? loadBusKeys(env.NEXUS_BUS_KEYS || undefined, home.folder) : undefined;
  const nats = await startNats({
    dir: home.path('nats'),
    port,
    configOf: (place) => serverConfig(keys, place),
    log: logOf('nats'),
    outlives: true,
    onStarted: (service) => mustRun('NATS', service, { mark: home.path('nats'), signal: 'SIGTERM' }),
  });
  return nats.url;
}

async function startNode(databaseUrl, natsUrl) {
  const port = await portOf('NEXUS_HTTP_PORT', 7420);
  const node = startChild(process.execPath, ['--enable-source-maps', program('main.js')], {
    log: logOf('node'),
    outlives: true,
    onStarted: (service) => mustRun('Nexus', service, { mark: program('main.js'), signal: 'SIGTERM' }),
    env: {
      ...env,
      DATABASE_URL: databaseUrl,
      NATS_URL: natsUrl,
      NEXUS_HOME: home.folder,
      NEXUS_HTTP_PORT: String(port),
    },
  });
  const url = `http://${reachableHost(env.NEXUS_HTTP_HOST)}:${port}`;
  await whenReady(node, 'Nexus', () => isReady(url));
  return url;
}

async function startRunner(url, natsUrl, runnerId) {
  const before = await announcedAt(home, url, runnerId);
  const hasAnnounced = async () => (await announcedAt(home, url, runnerId)) !== before;
  const runner = spawnRunner(natsUrl);
  await whenReady(runner, `The local runner (${logOf('runner')})`, hasAnnounced);
  void superviseRunner(runner, natsUrl);
}

function spawnRunner(natsUrl) {
  const registration = home.path('runner.registration.json');
  const folders = ['--root', home.workspace, '--checkpoints', home.path('checkpoints')];
  const args = ['--registration', registration, '--nats-url', natsUrl, ...folders];
  return startChild(process.execPath, [program('runner/main.js'), ...args], {
    log: logOf('runner'),
    outlives: true,
    onStarted: (service) => keep(service, { mark: registration, signal: 'SIGTERM' }),
    // what a runner has no business with, its tools can't leak
    env: { PATH: env.PATH, HOME: env.HOME, LANG: env.LANG, TMPDIR: env.TMPDIR },
  });
}

/** Starts the runner again whenever it ends, after a pause that doubles while it does not last a minute. */
async function superviseRunner(first, natsUrl) {
  let runner = first;
  let pauseMs = RUNNER_PAUSE_MS.first;
  for (;;) {
    const started = Date.now();
    const how = await runner.ended;
    if (stopping) return;
    if (Date.now() - started > 60_000) pauseMs = RUNNER_PAUSE_MS.first;
    process.stderr.write(
      `nexus: the local runner ended (${how}); it is started again. See ${logOf('runner')}\n`,
    );
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    if (stopping) return;
    pauseMs = Math.min(2 * pauseMs, RUNNER_PAUSE_MS.most);
    runner = spawnRunner(natsUrl);
  }
}

/** Keeps a service that must not end by itself: where it does, everything ends. */
function mustRun(name, service, { mark, signal }) {
  keep(service, { mark, signal });
  void service.ended.then((how) => {
    if (stopping) return;
    process.stderr.write(
      `\nnexus: ${name} ended (${how}). Its last words, of ${home.path('logs')}:\n${service.tail()}\n`,
    );
    void stop(1);
  });
}

/** Remembers a service, so that it is stopped with us, and, where we are killed, ended by the next start. */
function keep(service, { mark, signal }) {
  if (service.pid === undefined) return;
  if (stopping) service.child.kill(signal);
  services.push({ service, mark, signal });
  const running = services.filter((kept) => kept.service.isRunning());
  home.writeJson(
    'children.json',
    running.map((kept) => ({ pid: kept.service.pid, mark: kept.mark, signal: kept.signal })),
  );
}

async function stop(code) {
  if (stopping) return;
  stopping = true;
  rmSync(home.path('ready.json'), { force: true });
  for (const { service } of [...services].reverse()) await service.stop();
  if (services.length > 0) process.stdout.write('Stopped.\n');
  for (const name of ['start.pid', 'children.json']) rmSync(home.path(name), { force: true });
  process.exit(code);
}

async function step(name, work) {
  // told to stop in the midst of the start: nothing more begins
  if (stopping) await new Promise(() => {});
  const started = Date.now();
  process.stdout.write(`${name} …`);
  const result = await work();
  process.stdout.write(` ${((Date.now() - started) / 1000).toFixed(1)} s\n`);
  return result;
}

async function portOf(variable, fallback) {
  const port = Number(env[variable] || fallback);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) throw new Error(`${variable} must be a port`);
  if (!(await isFree(port)))
    throw new Error(`Port ${port} is taken by another program: set ${variable} to a free one.`);
  return port;
}

/** Where we reach what listens on this address: all addresses include the loopback one. */
function reachableHost(address = '127.0.0.1') {
  if (['', '0.0.0.0', '::'].includes(address)) return '127.0.0.1';
  return address.includes(':') ? `[${address}]` : address;
}

async function isReady(url) {
  return fetch(`${url}/readyz`).then(
    (answer) => answer.ok,
    () => false,
  );
}

const logOf = (name) => home.path(`logs/${name}.log`);

function welcome(url, natsUrl, runnerId) {
  const lines = [
    '',
    'Nexus is ready.',
    `  API      ${url}`,
    `  Console  ${url}/console`,
    `  Swagger  ${url}/docs`,
    `  NATS     ${natsUrl}   (${isManaged ? 'managed: it lets in whom Nexus has issued credentials' : TOKEN_MODE})`,
    `  Secrets  ${home.path('platform.secret')}  (administrators: sign in to the console with it, or paste it into Swagger's "platform")`,
    `           ${home.path('agent.secret')}, ${home.path('human.secret')}`,
    `  Logs     ${home.path('logs')}`,
  ];
  if (runnerId !== undefined) {
    lines.push(
      '',
      'Call a tool on the local runner (paste it into another terminal):',
      '',
      `  ${callLine(url, runnerId)}`,
    );
  }
  process.stdout.write(`${lines.join('\n')}\n\nCtrl-C stops all of it.\n`);
}

/** One line for a shell: a run, a call of `ls`, and the answer. */
function callLine(url, runnerId) {
  const head = `-H "Authorization: Bearer $(cat ${quote(home.path('agent.secret'))})" -H 'Content-Type: application/json'`;
  const body = JSON.stringify({
    default_runner_executor_public_id: runnerId,
    steps: [{ call: { name: 'ls', key: 'first', input: { path: '.' } } }],
  });
  const runs = `${url}/agent_api/v1/runs`;
  const run = `$(curl -sS ${head} ${runs} -d '${body}' | node -p 'JSON.parse(fs.readFileSync(0)).run.public_id')`;
  return `curl -sS ${head} "${runs}/${run}/tasks/first?wait_ms=10000"`;
}

const quote = (path) => `'${path.replaceAll("'", "'\\''")}'`;
