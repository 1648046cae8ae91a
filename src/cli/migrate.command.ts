import { Command } from 'commander';
import { readEnv } from '../config/env.js';
import { databaseUrl } from './database-url.js';

/** `nexus migrate`: what a node does when it starts, without starting one. */
export function migrateCommand(): Command {
  return new Command('migrate')
    .description('bring the database to the newest schema; a node does the same when it starts')
    .action(async () => {
      const { migrate } = await import('../db/migrate.js');
      const names = await migrate(await databaseUrl(readEnv()));
      process.stdout.write(names.length === 0 ? 'The schema is current.\n' : `Ran ${names.join(', ')}.\n`);
    });
}
