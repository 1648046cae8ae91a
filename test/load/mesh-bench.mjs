import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { median } from './closed-loop.mjs';
import { residentMiB } from './processes.mjs';
import { askJson } from './product.mjs';

const SERVICES = fileURLToPath(new URL('mesh-services.mjs', import.meta.url));

const CONNECTIONS = 50;
const MODULES_EACH = 20;
const TOOLS_EACH = 5;

/** Gathers that warm the process up before its memory is looked at. */
const WARM = 20;
/** Gathers between two looks at the node's memory, as a part of all. */
const LOOKS = 5;

/** A thousand services on fifty connections: how long the fleet takes to answer, who is lost, and what the node keeps of it. */
export async function benchMesh(stage, node, product, { gathers, print }) {
  const fleet = await registerFleet(node, product);
  const file = join(stage.folder, 'fleet.json');
  writeFileSync(file, JSON.stringify(fleet), { mode: 0o600 });
  await stage.startProgram('The fleet', process.execPath, [SERVICES, file], {
    log: join(stage.folder, 'fleet.log'),
    env: { PATH: process.env.PATH },
    isReady: async () => existsSync(`${file}.ready`),
  });
  const ask = () => gather(node, product);
  for (let index = 0; index < WARM; index += 1) await ask();
  const results = [];
  const memory = [{ after_gathers: 0, resident_mib: Math.round(residentMiB(node.pid)) }];
  for (let index = 1; index <= gathers; index += 1) {
    results.push(await ask());
    if (index % Math.ceil(gathers / LOOKS) === 0 || index === gathers)
      memory.push({ after_gathers: index, resident_mib: Math.round(residentMiB(node.pid)) });
  }
  const of = (field) => results.map((result) => result[field]);
  print([
    {
      services: CONNECTIONS * MODULES_EACH,
      connections: CONNECTIONS,
      gathers,
      gathered_p50_ms: median(of('gathered_ms')),
      gathered_max_ms: Math.max(...of('gathered_ms')),
      answered_p50_ms: Math.round(median(of('answered_ms'))),
      answered_max_ms: Math.round(Math.max(...of('answered_ms'))),
      answers_lost: Math.max(...of('lost')),
      unexpected: Math.max(...of('unexpected')),
    },
  ]);
  print(memory);
}

async function registerFleet(node, { ask, manager }) {
  const fleet = [];
  for (let index = 0; index < CONNECTIONS; index += 1) {
    const names = Array.from({ length: MODULES_EACH }, (_, at) => `module-${at}`);
    const { executor, secret, bus } = await ask('POST', '/platform_api/v1/executors', {
      kind: 'runner',
      display_name: `Machine ${index}`,
      manager_public_id: manager,
      registration_identifier: `machine-${index}`,
      assignment_scope: 'account_wide',
      modules: names,
      machine: `machine-${index}`,
    });
    const modules = Object.fromEntries(names.map((module) => [module, toolsOf(module)]));
    const tools = Object.values(modules).flat();
    await askJson(
      node.url,
      'PUT',
      '/agent_api/v1/executor/announcement',
      { tools, delivery: 'serve' },
      secret,
    );
    fleet.push({ executor, bus, modules });
  }
  return fleet;
}

const toolsOf = (module) =>
  Array.from({ length: TOOLS_EACH }, (_, at) => ({
    name: `${module}-tool-${at}`,
    module,
    description: `The tool ${at} of ${module}, described in a sentence`,
    input_schema: { type: 'object', properties: { path: { type: 'string', description: 'x'.repeat(150) } } },
    effect_profile: {
      kind: 'read_only',
      destructive: false,
      effect_scope: 'closed',
      idempotency: 'intrinsic',
      reconciliation: 'none',
    },
  }));

async function gather(node, { platformToken }) {
  const started = performance.now();
  const mesh = await askJson(node.url, 'GET', '/platform_api/v1/mesh', undefined, platformToken);
  const answered_ms = performance.now() - started;
  const answering = mesh.machines
    .flatMap(({ services }) => services)
    .filter((service) => service.executor_public_id !== null);
  return {
    gathered_ms: mesh.gathered_ms,
    answered_ms,
    lost: CONNECTIONS * MODULES_EACH - answering.length,
    unexpected: mesh.unexpected.length + mesh.malformed,
  };
}
