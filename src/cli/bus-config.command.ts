import { Command } from 'commander';
import { readEnv } from '../config/env.js';

const HELP = `
Everything that a nats-server needs to run as the bus of Nexus: whom it trusts, and where it keeps the accounts that nodes
tell it of. It holds no private key. The same keys always print the same text: print it once for each server of a cluster,
with a folder of that server's own, and add a cluster block, TLS and whatever else you need in a file that includes it.

The keys are NEXUS_BUS_KEYS, or else the file bus.keys in NEXUS_HOME, which is made where there is none. Every node must
have the same.

Example:
  npx nexus bus-config --listen 0.0.0.0:4222 --dir /var/lib/nats/jwt > /etc/nats/nexus.conf
`;

/** `nexus bus-config`: the configuration of a nats-server that is started elsewhere (chapter 8). */
export function busConfigCommand(): Command {
  return new Command('bus-config')
    .description('print the configuration of a nats-server that Nexus manages')
    .option('--listen <address>', 'where the server listens', '127.0.0.1:4222')
    .option('--dir <folder>', "the server's own folder for accounts", './nexus-accounts')
    .addHelpText('after', HELP)
    .action(async (place: { listen: string; dir: string }) => {
      const { loadBusKeys } = await import('../bus/grants/bus-keys-file.js');
      const { serverConfig } = await import('../bus/grants/server-config.js');
      const env = readEnv();
      process.stdout.write(serverConfig(loadBusKeys(env.NEXUS_BUS_KEYS, env.NEXUS_HOME), place));
    });
}
