import { Command, InvalidArgumentError, Option } from 'commander';
import { hostname } from 'node:os';
import type { SelfRegistration } from './self-registration.js';

/** What the program was asked to do. */
export interface ProgramOptions {
  readonly root: string;
  /** Either a file that holds a registration, or how to get one. */
  readonly registration: string | SelfRegistration;
  readonly natsUrls?: readonly string[];
  /** Where checkpoints are kept; below the home folder where absent. */
  readonly checkpoints?: string;
  readonly allowBash: boolean;
  /** How calls reach it; by its registration where absent. */
  readonly delivery?: 'serve' | 'claim';
  readonly maxConcurrent: number;
  readonly graceMs: number;
  readonly verbose: boolean;
}

interface Given {
  readonly root: string;
  readonly registration?: string;
  readonly url?: string;
  readonly memberSecretFile?: string;
  readonly name: string;
  readonly identifier?: string;
  readonly natsUrl?: string[];
  readonly checkpoints?: string;
  readonly allowBash?: boolean;
  readonly delivery?: 'serve' | 'claim';
  readonly maxConcurrent: number;
  readonly grace: number;
  readonly verbose?: boolean;
}

const HELP = `
Tools served, all below the root folder:
  read, ls, grep   look, and change nothing
  write, edit      replace a file whole, or a text in it
  files_bytes      the bytes of a file; for people only, no model sees it
  bash             only with --allow-bash: any command, NOT confined to the root folder, with all rights of the
                   account this program runs under. Secrets of Nexus and database addresses are taken out of its
                   environment, but what that account may read, a command may read.
No path leaves the root folder: symbolic links are not followed.
Where git is installed, a checkpoint of the root folder is taken before each write, edit and bash; people, and a
restoration in Nexus, put it back with checkpoint_restore and list them with checkpoints. It leaves out what .gitignore
names, symbolic links, .git folders and files larger than 8 MiB.

Examples:
  # on another machine, as a runner of your own: registers once, then reuses what it saved in ~/.nexus/runners
  nexus runner --url http://host:7420 --member-secret-file ./human.secret --name build-box --root .

  # with a registration that an administrator made (the JSON answer, saved whole; keep it readable to you alone)
  nexus runner --registration ./runner.registration.json --root /srv/workspace

One process speaks for a registration at a time: another one waits for its turn. Ctrl-C ends it once the calls under
way have ended, or the grace is over; Ctrl-C again tells them to stop at once. It connects to NATS, outbound only.
`;

/** `nexus runner`. `run` gets the checked options; a faulty command line exits with 1 and says what is missing. */
export function command(run: (options: ProgramOptions) => Promise<void>): Command {
  return new Command('runner')
    .description('serve files (and, if allowed, a shell) of this machine to the agents that may use it')
    .requiredOption('--root <folder>', 'the one folder whose files are served')
    .addOption(
      new Option('--registration <file>', 'a saved registration').conflicts([
        'url',
        'memberSecretFile',
        'identifier',
      ]),
    )
    .option('--url <url>', 'register with the Nexus at this address, such as http://host:7420')
    .option('--member-secret-file <file>', 'with --url: holds your member secret; you will manage the runner')
    .option('--name <name>', 'with --url: how people see the runner', hostname())
    .option('--identifier <identifier>', 'with --url: what tells your runners apart (default: the name)')
    .option('--nats-url <url,…>', 'use these NATS servers instead of those the registration names', urls)
    .option('--checkpoints <folder>', 'keep checkpoints here (default: ~/.nexus/checkpoints)')
    .option('--allow-bash', 'serve bash too; see below')
    .addOption(
      new Option(
        '--delivery <how>',
        'whether Nexus sends calls, or the runner claims them (default: sent, where Nexus manages NATS)',
      ).choices(['serve', 'claim']),
    )
    .option('--max-concurrent <n>', 'how many calls are worked on at once', integer(1, 1_024), 16)
    .option(
      '--grace <seconds>',
      'how long calls under way may take when the runner is stopped',
      integer(0, 3_600),
      10,
    )
    .option('--verbose', 'log every call')
    .addHelpText('after', HELP)
    .action((given: Given, self: Command) => run(checked(given, self)));
}

function checked(given: Given, self: Command): ProgramOptions {
  const { root, natsUrl, checkpoints, allowBash = false, delivery, maxConcurrent } = given;
  const { grace, verbose = false } = given;
  return {
    root,
    registration: given.registration ?? selfRegistration(given, self),
    ...(natsUrl && { natsUrls: natsUrl }),
    ...(checkpoints !== undefined && { checkpoints }),
    allowBash,
    ...(delivery && { delivery }),
    maxConcurrent,
    graceMs: grace * 1_000,
    verbose,
  };
}

function selfRegistration(
  { url, memberSecretFile, name, identifier = name }: Given,
  self: Command,
): SelfRegistration {
  if (url === undefined || memberSecretFile === undefined) {
    self.error('error: give either --registration, or --url and --member-secret-file; see --help');
  }
  if (!/^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : '')) {
    self.error(`error: --url ${url} is not the address of an HTTP server`);
  }
  return { url: url.replace(/\/+$/, ''), memberSecretFile, name, identifier };
}

function urls(value: string): string[] {
  const list = value.split(',').map((url) => url.trim());
  if (list.some((url) => url === ''))
    throw new InvalidArgumentError('It is a list of addresses with commas between.');
  return list;
}

function integer(least: number, most: number): (value: string) => number {
  return (value) => {
    const number = Number(value);
    if (value.trim() !== '' && Number.isInteger(number) && number >= least && number <= most) return number;
    throw new InvalidArgumentError(`It is an integer from ${least} to ${most}.`);
  };
}
