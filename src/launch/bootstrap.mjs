/**
 * `node src/launch/bootstrap.mjs [install] [nats] [build]`: brings a fresh clone to where it can run. Each step is skipped
 * when it has nothing to do. Runs before anything is installed, so it imports nothing but Node's own modules.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findNatsServer, installNatsServer } from './nats-server.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const INSTALL_STAMP = join(ROOT, 'node_modules', '.nexus-install');
const BUILD_STAMP = join(ROOT, 'dist', '.nexus-build');

const steps = { install, nats, build };
for (const name of process.argv.slice(2)) {
  const step = steps[name];
  if (!step) throw new Error(`There is no step ${name}`);
  try {
    await step();
  } catch (fault) {
    process.stderr.write(`nexus: ${fault.message}\n`);
    process.exit(1);
  }
}

/** `npm ci`, when the lock file is not the one that was installed last. */
async function install() {
  const { dependencies, devDependencies, overrides, allowScripts } = readJson('package.json');
  const wanted = JSON.stringify({ dependencies, devDependencies, overrides, allowScripts });
  const stamp = hashOf([join(ROOT, 'package-lock.json')], wanted);
  if (readIfThere(INSTALL_STAMP) === stamp) return;
  if (!isInstalled({ ...dependencies, ...devDependencies })) await timed('Installing packages', npmCi);
  writeFileSync(INSTALL_STAMP, stamp);
}

async function npmCi() {
  // the lock file names no hosts, so npm would ask about each package: what it has already comes first
  const offlineFirst = await npm('ci', '--include=dev', '--prefer-offline');
  if (offlineFirst.code === 0) return;
  const online = await npm('ci', '--include=dev');
  if (online.code !== 0) throw new Error(`npm ci failed:\n${online.output}`);
}

/**
 * Whether somebody ran `npm ci` already: what npm noted down of node_modules is what the lock file wants, and that what
 * package.json wants.
 */
function isInstalled(dependencies) {
  if (!existsSync(join(ROOT, 'node_modules/.package-lock.json'))) return false;
  const { packages: there } = readJson('node_modules/.package-lock.json');
  const { '': root, ...wanted } = readJson('package-lock.json').packages;
  const locked = { ...root.dependencies, ...root.devDependencies };
  const isLocked = Object.entries(dependencies).every(([name, range]) => locked[name] === range);
  const isThere = ([path, { version, integrity, optional, devOptional }]) =>
    there[path] === undefined
      ? Boolean(optional || devOptional)
      : there[path].version === version && there[path].integrity === integrity;
  return isLocked && Object.entries(wanted).every(isThere);
}

/** Finds nats-server, or installs it where that is possible. An external NATS needs none. */
async function nats() {
  if (process.env.NATS_URL || findNatsServer()) return;
  await timed('Installing nats-server', () => installNatsServer());
}

/**
 * Compiles the sources that `nest-cli.json` names into `dist` and copies its assets there, when they have changed; `dist` is
 * replaced whole.
 */
async function build() {
  const { options, swcrcPath, assetFolders } = buildConfiguration();
  const sources = options.filenames.flatMap((folder) => sourcesBelow(join(ROOT, folder)));
  const assets = assetFolders.flatMap((folder) => assetsBelow(join(ROOT, folder)));
  const inputs = [
    ...sources,
    ...assets,
    swcrcPath,
    join(ROOT, 'nest-cli.json'),
    join(ROOT, 'package-lock.json'),
  ];
  const stamp = hashOf(inputs);
  if (readIfThere(BUILD_STAMP) === stamp) return;
  await timed(`Building ${sources.length} files`, async () => {
    const { transform } = await import('@swc/core');
    const { $schema: _schema, ...swc } = JSON.parse(readFileSync(swcrcPath, 'utf8'));
    const making = join(ROOT, `dist.${process.pid}`);
    for (const source of sources) {
      const target = join(making, relative(ROOT, source).replace(/\.ts$/, '.js'));
      const options = {
        ...swc,
        swcrc: false,
        filename: source,
        sourceFileName: relative(dirname(target), source),
      };
      const { code, map } = await transform(readFileSync(source, 'utf8'), options);
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(target, `${code}\n//# sourceMappingURL=${target.split('/').at(-1)}.map\n`);
      if (map) writeFileSync(`${target}.map`, map);
    }
    for (const asset of assets) {
      const target = join(making, relative(ROOT, asset));
      mkdirSync(dirname(target), { recursive: true });
      copyFileSync(asset, target);
    }
    writeFileSync(join(making, '.nexus-build'), stamp);
    replaceDist(making);
  });
}

/** Puts a finished build where the old one was. Several may build at once: the last one stays. */
function replaceDist(making) {
  const dist = join(ROOT, 'dist');
  const old = `${making}.old`;
  for (let tries = 1; ; tries += 1) {
    try {
      if (existsSync(dist)) renameSync(dist, old);
      renameSync(making, dist);
      break;
    } catch (fault) {
      // another build was put there between the two steps
      if (tries === 5) throw fault;
    } finally {
      rmSync(old, { recursive: true, force: true });
    }
  }
}

function buildConfiguration() {
  const { compilerOptions, sourceRoot } = readJson('nest-cli.json');
  const { options } = compilerOptions.builder;
  const assetFolders = compilerOptions.assets.map(({ include }) => join(sourceRoot, dirname(include)));
  return { options, swcrcPath: join(ROOT, options.swcrcPath), assetFolders };
}

function sourcesBelow(folder) {
  return filesBelow(folder, (name) => name.endsWith('.ts') && !/\.(test|d)\.ts$/.test(name));
}

function assetsBelow(folder) {
  return filesBelow(folder, (name) => !name.endsWith('.ts'));
}

function filesBelow(folder, isWanted) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && isWanted(entry.name))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .sort();
}

function hashOf(files, more = '') {
  const hash = createHash('sha256').update(more);
  for (const file of files)
    hash.update(relative(ROOT, file)).update('\0').update(readFileSync(file)).update('\0');
  return hash.digest('hex');
}

function readJson(name) {
  return JSON.parse(readFileSync(join(ROOT, name), 'utf8'));
}

function readIfThere(file) {
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

/** npm as we were started by it, so that it is the same one. */
function npm(...args) {
  const path = process.env.npm_execpath;
  const [command, first] = path?.endsWith('.js') ? [process.execPath, [path]] : ['npm', []];
  const child = spawn(command, [...first, ...args], { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  child.stderr.on('data', (chunk) => (output += chunk));
  return new Promise((resolve) => {
    child.once('error', (fault) => resolve({ code: 1, output: fault.message }));
    child.once('exit', (code) => resolve({ code, output: output.slice(-4_000) }));
  });
}

/** Says what goes on, and for how long: a dot every two seconds. */
async function timed(title, work) {
  const started = Date.now();
  process.stdout.write(`${title} …`);
  const dots = setInterval(() => process.stdout.write('.'), 2_000);
  try {
    await work();
    process.stdout.write(` ${((Date.now() - started) / 1000).toFixed(1)} s\n`);
  } catch (fault) {
    process.stdout.write(' failed\n');
    throw fault;
  } finally {
    clearInterval(dots);
  }
}
