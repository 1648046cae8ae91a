import { setTimeout as pause } from 'node:timers/promises';
import { Command } from 'commander';
import { readEnv } from '../config/env.js';
import { type Mesh, meshTable } from './mesh-table.js';
import { type RunningNexus, runningNexus } from './running-nexus.js';

const HELP = `
Asks every service of the account on the bus, and says what answers, what should and does not, and what nobody expects.
It speaks REST, as the administrator whose platform secret it is given: by itself those of the Nexus that runs from
NEXUS_HOME.

Examples:
  nexus mesh
  nexus mesh --watch
  nexus mesh --json | jq '.not_answering'
  nexus mesh --url http://nexus-host:7420 --secret-file ./platform.secret
`;

/** Between two looks of --watch. */
const WATCH_MS = 2_000;
const REQUEST_MS = 30_000;
/** Columns where there is no terminal to ask. */
const WIDTH = 160;

interface Options {
  readonly url?: string;
  readonly secretFile?: string;
  readonly watch: boolean;
  readonly json: boolean;
}

/** `nexus mesh`: the live fleet as a table. */
export function meshCommand(): Command {
  return new Command('mesh')
    .description('show what answers on the bus: machines, services, tools')
    .option('--url <url>', 'where Nexus is')
    .option('--secret-file <file>', 'a file that holds a platform secret')
    .option('--watch', 'look again every 2 seconds, until Ctrl-C', false)
    .option('--json', 'print the answer of the API instead of a table', false)
    .addHelpText('after', HELP)
    .action(async ({ watch, json, ...given }: Options) => {
      const nexus = await runningNexus(readEnv().NEXUS_HOME, given);
      const show = async (): Promise<void> => print(await meshText(nexus), { json, watch });
      if (!watch) return show();
      for (;;) {
        await show().catch((fault: Error) => process.stderr.write(`nexus: ${fault.message}\n`));
        await pause(WATCH_MS);
      }
    });
}

/** The API's answer. Throws for any other than a success. */
async function meshText({ url, secret }: RunningNexus): Promise<string> {
  const headers = { authorization: `Bearer ${secret}` };
  const signal = AbortSignal.timeout(REQUEST_MS);
  const answer = await fetch(`${url}/platform_api/v1/mesh`, { headers, signal }).catch((fault: Error) => {
    throw new Error(
      `${url} is out of reach (${(fault.cause as Error | undefined)?.message ?? fault.message})`,
      {
        cause: fault,
      },
    );
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}: ${text.slice(0, 500)}`);
  return text;
}

function print(text: string, { json, watch }: { json: boolean; watch: boolean }): void {
  const { stdout } = process;
  if (json) return void stdout.write(`${text}\n`);
  // where somebody looks, the table stays in its place
  if (watch && stdout.isTTY) stdout.write('\u001b[2J\u001b[H');
  stdout.write(meshTable(JSON.parse(text) as Mesh, stdout.columns || WIDTH));
}
