import type { NatsConnection } from 'nats';
import { EndpointStats, type ServiceDescription } from '../../src/services-protocol/service-description.js';
import { ServiceResponder } from '../../src/services-protocol/service-responder.js';
import { ok, onBus, type TestAccount, type TestExecutor, type TestMember } from '../support/factories.js';
import type { TestNode } from '../support/node.js';

/** One service of an answer of `GET /platform_api/v1/mesh`. */
interface ServiceBody {
  readonly name: string;
  readonly id: string;
  readonly version: string;
  readonly executor_public_id: string | null;
  readonly endpoints: { name: string; subject: string; queue_group: string; description: string }[];
}

export interface MeshBody {
  readonly asked_at: string;
  readonly gathered_ms: number;
  readonly machines: { machine: string; services: (ServiceBody & { state: string })[] }[];
  readonly not_answering: {
    module: string;
    machine: string;
    executor_public_id: string;
    last_seen_at: string | null;
  }[];
  readonly unexpected: { service: ServiceBody; reason: string }[];
  readonly malformed: number;
}

export async function meshOf(node: TestNode, { platformToken }: TestAccount): Promise<MeshBody> {
  return ok(await node.http('GET', '/platform_api/v1/mesh', { token: platformToken })).body as MeshBody;
}

/** The executors that answer, by public id; those of Nexus itself are left out. */
export const answering = ({ machines }: MeshBody): string[] =>
  machines.flatMap(({ services }) => services.flatMap(({ executor_public_id }) => executor_public_id ?? []));

export const missed = ({ not_answering }: MeshBody): string[] =>
  not_answering.map(({ executor_public_id }) => executor_public_id);

/** The reasons why answers under this id are unexpected. */
export const reasonsOf = ({ unexpected }: MeshBody, id: string): string[] =>
  unexpected.filter(({ service }) => service.id === id).map(({ reason }) => reason);

/** A process that answers the services protocol for an executor. */
export interface Answerer {
  readonly connection: NatsConnection;
  stop(): Promise<void>;
}

/** A service of an executor as it should be: named for its module, on its own subjects. */
export function serviceOf(
  executor: TestExecutor,
  tools: readonly string[],
  fields: Partial<ServiceDescription> = {},
): ServiceDescription {
  return {
    name: 'tools',
    id: executor.id,
    version: '1.0.0',
    description: 'A test',
    metadata: { machine: 'said-by-itself' },
    endpoints: tools.map((name) => ({
      name,
      subject: `${executor.subjects.tool}.${name}`,
      queue_group: 'q',
      metadata: { description: `The tool ${name}` },
    })),
    ...fields,
  };
}

/** Answers for the executor with these services, on one connection of its own. */
export async function answerAs(executor: TestExecutor, ...services: ServiceDescription[]): Promise<Answerer> {
  const { connection } = await onBus(executor);
  for (const service of services) {
    const stats = new Map(service.endpoints.map(({ name }) => [name, new EndpointStats()]));
    new ServiceResponder(service, stats).start(connection);
  }
  await connection.flush();
  return { connection, stop: () => connection.close() };
}

/** Answers everybody's `$SRV.INFO` with whatever, as a dishonest or broken process would. */
export async function answerWith(
  executor: TestExecutor | TestMember,
  respond: (reply: (payload: string | Uint8Array, headers?: object) => void) => void,
): Promise<Answerer> {
  const { connection } = await onBus(executor);
  connection.subscribe('$SRV.INFO', {
    callback: (_, message) =>
      respond((payload, head) => message.respond(payload, head ? { headers: head as never } : {})),
  });
  await connection.flush();
  return { connection, stop: () => connection.close() };
}

/** The INFO document of a service. */
export const infoText = ({
  name,
  id,
  version,
  description,
  metadata,
  endpoints,
}: ServiceDescription): string =>
  JSON.stringify({
    type: 'io.nats.micro.v1.info_response',
    name,
    id,
    version,
    description,
    metadata,
    endpoints,
  });
