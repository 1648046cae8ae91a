/**
 * A fleet: `node mesh-services.mjs <file>` serves what the file says, with the services API of the `nats` package as anybody
 * would, one connection for each registration. `<file>.ready` says that every subscription has reached the server.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { connect } from 'nats';
import { authenticatorOf, readCreds } from '../../dist/src/nkeys/creds.js';

// the package mints ids of its own; a pinned one needs the class behind its API
const { ServiceImpl } = createRequire(import.meta.url)('nats/lib/nats-base-client/service.js');

const [, , file] = process.argv;
const connections = await Promise.all(JSON.parse(readFileSync(file, 'utf8')).map(serve));
await Promise.all(connections.map((connection) => connection.flush()));
writeFileSync(`${file}.ready`, '');

async function serve({ executor, bus, modules }) {
  const connection = await connect({
    servers: bus.servers,
    authenticator: authenticatorOf(readCreds(bus.credentials)),
    inboxPrefix: bus.subjects.inbox_prefix,
    noAsyncTraces: true,
  });
  for (const [name, tools] of Object.entries(modules)) {
    const service = new ServiceImpl(connection, { name, version: '1.0.0', description: 'A module' });
    service._id = executor.public_id;
    await service.start();
    for (const { name: tool, description, input_schema } of tools) {
      service.addEndpoint(tool, {
        subject: `${bus.subjects.tool}.${tool}`,
        handler: (_, message) => message.respond('{"content":"done"}'),
        metadata: { description, input_schema: JSON.stringify(input_schema) },
      });
    }
  }
  return connection;
}
