import { Command } from 'commander';
import { readEnv } from '../config/env.js';
import { databaseUrl } from './database-url.js';

const HELP = `
The account has one administrator and one platform credential. Its secret is printed once, on standard output and on a
line of its own; whoever holds it administers the account. Everything else is made with it, over the Platform API.

Example:
  (umask 077; npx nexus accounts create "Second team" > second-team.secret)
`;

/** `nexus accounts`: tenants, which are made on the server's side only (chapter 1). */
export function accountsCommand(): Command {
  const create = new Command('create')
    .description('make an account and print its first platform secret')
    .argument('<name>', 'what the account is called')
    .addHelpText('after', HELP)
    .action(async (name: string) => {
      const { createAccountAt } = await import('./create-account-at.js');
      const { accountId, platformToken } = await createAccountAt(await databaseUrl(readEnv()), name);
      process.stderr.write(
        `Account "${name}" (${accountId}) is made. Its platform secret, shown this once:\n`,
      );
      process.stdout.write(`${platformToken}\n`);
    });
  return new Command('accounts').description('make accounts (tenants)').addCommand(create);
}
