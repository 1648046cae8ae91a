import { readEnv } from './config/env.js';
import { createNode } from './create-node.js';
import { migrate } from './db/migrate.js';

/** Starts a node: settings, schema, both doors; SIGTERM and SIGINT drain and stop it. */
async function main(): Promise<void> {
  const env = readEnv();
  if (env.DATABASE_URL === undefined)
    throw new Error('Settings: DATABASE_URL is required (npm start provides one)');
  await migrate(env.DATABASE_URL);
  const app = await createNode(env);
  app.enableShutdownHooks();
  await app.startAllMicroservices();
  await app.listen(env.NEXUS_HTTP_PORT, env.NEXUS_HTTP_HOST);
}

main().catch((fault: unknown) => {
  process.stderr.write(`nexus: ${fault instanceof Error ? fault.message : String(fault)}\n`);
  process.exit(1);
});
