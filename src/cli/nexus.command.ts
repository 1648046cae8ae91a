import { Command } from 'commander';
import { PRODUCT_VERSION } from '../config/node-identity.js';
import { runnerCommand } from '../runner/main.js';
import { accountsCommand } from './accounts.command.js';
import { busConfigCommand } from './bus-config.command.js';
import { envCommand } from './env.command.js';
import { meshCommand } from './mesh.command.js';
import { migrateCommand } from './migrate.command.js';
import { openapiCommand } from './openapi.command.js';
import { schemaCommand } from './schema.command.js';

const HELP = `
Commands that work on the database take DATABASE_URL, or else the database of the Nexus that runs from NEXUS_HOME.

Examples:
  nexus accounts create "Second team"
  nexus runner --url http://host:7420 --member-secret-file ./human.secret --name build-box --root .
  nexus mesh --watch
  nexus env
`;

/** The whole command line. What a command needs is loaded when it runs, so that every one of them starts at once. */
export function nexusCommand(): Command {
  return new Command('nexus')
    .description('The tool plane for agents and the machines they work on')
    .version(PRODUCT_VERSION)
    .addCommand(accountsCommand())
    .addCommand(runnerCommand())
    .addCommand(meshCommand())
    .addCommand(migrateCommand())
    .addCommand(busConfigCommand())
    .addCommand(envCommand())
    .addCommand(openapiCommand())
    .addCommand(schemaCommand())
    .addHelpText('after', HELP);
}
