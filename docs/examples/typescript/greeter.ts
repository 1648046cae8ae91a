/** A runner without an SDK: a micro service of the `nats` package. Usage: greeter.ts <registration.json> */
import { readFileSync } from 'node:fs';
import { connect, credsAuthenticator, type ServiceMsg } from 'nats';

interface Registration {
  executor: { modules: string[] };
  bus: {
    servers: string[];
    credentials: string;
    subjects: { executor: string; tool: string; inbox_prefix: string };
  };
}

const file = readFileSync(process.argv[2] ?? 'registration.json', 'utf8');
const { executor, bus } = JSON.parse(file) as Registration;

const connection = await connect({
  servers: bus.servers,
  authenticator: credsAuthenticator(new TextEncoder().encode(bus.credentials)),
  inboxPrefix: bus.subjects.inbox_prefix,
  maxReconnectAttempts: -1,
});
const service = await connection.services.add({
  name: executor.modules[0] ?? 'tools',
  version: '1.0.0',
  description: 'Greets people',
  metadata: { environment: JSON.stringify({ node: process.version }) },
});
service.addEndpoint('greet', {
  subject: `${bus.subjects.tool}.greet`,
  metadata: {
    description: 'Greets somebody by name',
    input_schema: JSON.stringify({
      type: 'object',
      properties: { name: { type: 'string' } },
      required: ['name'],
    }),
    effect_profile: JSON.stringify({
      kind: 'pure',
      destructive: false,
      effect_scope: 'closed',
      idempotency: 'intrinsic',
      reconciliation: 'none',
    }),
  },
  handler: (_, request) => greet(request),
});

function greet(request: ServiceMsg): void {
  const { name } = request.json<{ name?: unknown }>();
  if (typeof name !== 'string') request.respondError(400, 'name must be a string');
  else request.respond(JSON.stringify({ content: `Hello, ${name}, from TypeScript` }));
}

await connection.flush();
const answer = await connection.request(`${bus.subjects.executor}.announce`, JSON.stringify(service.info()));
if (answer.headers?.get('Nats-Service-Error')) throw new Error(answer.string());
console.log('serving greet');
