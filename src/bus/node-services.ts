import { NODE_ID, NODE_MACHINE, PRODUCT_VERSION } from '../config/node-identity.js';
import { busVerbOf, type VerbDeclaration } from '../doors/verb.js';
import type {
  EndpointDescription,
  EndpointStats,
  ServiceDescription,
} from '../services-protocol/service-description.js';

/** What a node answers as in the services protocol (chapter 8). */
export const NODE_SERVICES = ['nexus-executor', 'nexus-controller', 'nexus-console'] as const;

type NodeService = (typeof NODE_SERVICES)[number];

const DESCRIPTIONS: Readonly<Record<NodeService, string>> = {
  'nexus-executor': 'Executors announce, claim and commit here',
  'nexus-controller': 'What should exist: machines, modules and assignments',
  'nexus-console': 'What answers: five tools to find and call every tool',
};

/** A verb as a node serves it on one connection. */
export interface ServedVerb {
  readonly verb: VerbDeclaration;
  readonly subject: string;
  readonly queue: string;
  readonly stats: EndpointStats;
}

/** The services that a node announces for what it serves: the executor plane, and a service for each seat. */
export function announceVerbs(
  served: readonly ServedVerb[],
): { readonly description: ServiceDescription; readonly stats: ReadonlyMap<string, EndpointStats> }[] {
  return NODE_SERVICES.flatMap((name) => {
    const own = served.filter(({ verb }) => serviceOf(verb) === name);
    const seat = own[0]?.verb.seat?.name;
    if (own.length === 0) return [];
    const description: ServiceDescription = {
      name,
      id: NODE_ID,
      version: PRODUCT_VERSION,
      description: DESCRIPTIONS[name],
      metadata: {
        machine: NODE_MACHINE,
        interchangeable: 'true',
        scope: 'account_wide',
        ...(seat ? { seat } : {}),
      },
      endpoints: own.map(endpointOf),
    };
    return [{ description, stats: new Map(own.map((one) => [endpointName(one.verb), one.stats])) }];
  });
}

const serviceOf = ({ seat }: VerbDeclaration): NodeService =>
  seat ? `nexus-${seat.name}` : 'nexus-executor';

const endpointName = (verb: VerbDeclaration): string => verb.seat?.endpoint ?? busVerbOf(verb);

const endpointOf = ({ verb, subject, queue }: ServedVerb): EndpointDescription => ({
  name: endpointName(verb),
  subject,
  queue_group: queue,
  metadata: {
    description: verb.summary,
    scope: 'account_wide',
    ...verb.seat?.metadata,
    ...(verb.seat ? { seat: verb.seat.name } : {}),
  },
});
