import { ENDPOINT_QUEUE } from '../../services-protocol/service-description.js';
import { Subjects } from '../subjects.js';

/** What one principal may do on the bus. An empty list is nothing at all. */
export interface Permissions {
  readonly publish: readonly string[];
  /** A subject, or a subject and the only queue it may be subscribed in: `t.> q`. */
  readonly subscribe: readonly string[];
  /** Answers to whatever reply subject a heard request names: how many, and for how long (ms). */
  readonly replies?: { readonly max: number; readonly withinMs: number };
}

const DISCOVERY_VERBS = ['PING', 'INFO', 'STATS'] as const;

/** The six subjects on which the services protocol is asked; never `$SRV.*`, which would admit more (chapter 8). */
const DISCOVERY_REQUESTS = DISCOVERY_VERBS.flatMap((verb) => [`$SRV.${verb}`, `$SRV.${verb}.>`]);

/** Where one service instance is asked; `*` for instances that mint their own ids. */
const discoveryAnswers = (services: readonly string[], instance: string): string[] =>
  DISCOVERY_VERBS.flatMap((verb) => [
    `$SRV.${verb}`,
    ...services.flatMap((name) => [`$SRV.${verb}.${name}`, `$SRV.${verb}.${name}.${instance}`]),
  ]);

/** Nodes share the work of both planes in this queue group. */
export const NODE_QUEUE = 'nexus';
/** Where a node hears answers, in every account. */
export const NODE_INBOX = '_INBOX.nexus';

/** How long a runner may take to answer a call on its own subject; one that commits by the verb may take longer. */
const ANSWER_WITHIN_MS = 3_600_000;

export interface ExecutorPrincipal {
  readonly id: string;
  readonly epoch: number;
  readonly modules: readonly string[];
  readonly serviceIds: 'pinned' | 'any';
}

/** The rows of chapter 8's table of grants, for one subject prefix. */
export class Grants {
  private readonly subjects: Subjects;

  constructor(private readonly prefix: string) {
    this.subjects = new Subjects(prefix);
  }

  executor({ id, epoch, modules, serviceIds }: ExecutorPrincipal): Permissions {
    const { executor, work, tool, inbox_prefix: inbox } = this.subjects.forExecutor(id, epoch);
    return {
      publish: [`${executor}.>`, ...DISCOVERY_REQUESTS],
      subscribe: [
        `${inbox}.>`,
        work,
        `${tool}.> ${ENDPOINT_QUEUE}`,
        ...discoveryAnswers(modules, serviceIds === 'any' ? '*' : id),
      ],
      // one answer for each service, and no more: nats-server 2.9 forgets a request once it was answered that often
      replies: { max: Math.max(1, modules.length), withinMs: ANSWER_WITHIN_MS },
    };
  }

  /** Members, the console and administrators: by credential. */
  member(credentialId: string): Permissions {
    const { member, inbox_prefix: inbox } = this.subjects.forMember(credentialId);
    return { publish: [`${member}.>`, ...DISCOVERY_REQUESTS], subscribe: [`${inbox}.>`] };
  }

  /** A node in a Nexus account, answering discovery as `services` under its own instance id. */
  node(instanceId: string, services: readonly string[]): Permissions {
    return {
      publish: [
        `${this.prefix}.work.>`,
        `${this.prefix}.tool.>`,
        ...DISCOVERY_REQUESTS,
        // in place of response grants: see the README's decisions
        '_INBOX.>',
      ],
      subscribe: [
        `${this.prefix}.executor.> ${NODE_QUEUE}`,
        `${this.prefix}.member.> ${NODE_QUEUE}`,
        `${NODE_INBOX}.>`,
        ...discoveryAnswers(services, instanceId),
      ],
    };
  }

  /** A node in the account that only nodes have. */
  amongNodes(): Permissions {
    const subjects = [`${this.prefix}.node.>`, '_INBOX.>'];
    return { publish: subjects, subscribe: subjects };
  }
}

/** As the claims of a user JWT say it. An empty list would allow everything there: nothing is a denial of all. */
export function permissionClaims({ publish, subscribe, replies }: Permissions): object {
  return {
    pub: listOf(publish),
    sub: listOf(subscribe),
    ...(replies ? { resp: { max: replies.max, ttl: replies.withinMs * 1_000_000 } } : {}),
  };
}

const listOf = (subjects: readonly string[]): object =>
  subjects.length === 0 ? { deny: ['>'] } : { allow: subjects };
