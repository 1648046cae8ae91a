import { Inject, Injectable } from '@nestjs/common';
import { Subjects } from '../bus/subjects.js';
import { ENV, type Env } from '../config/env.js';

/** How to speak on the bus, told beside a secret (chapter 8). */
export interface BusAnswer<Names> {
  readonly servers: readonly string[];
  /** A `.creds` text where Nexus manages NATS; null where every message carries the token. */
  readonly credentials: string | null;
  readonly subjects: Names;
}

/** What a registration or a credential says of the bus. Never holds the node's own way in. */
@Injectable()
export class BusAccess {
  private readonly subjects: Subjects;
  private readonly servers: readonly string[];

  constructor(@Inject(ENV) env: Env) {
    this.subjects = new Subjects(env.NEXUS_BUS_PREFIX);
    this.servers = env.NEXUS_PUBLIC_NATS_URL
      ? serversOf(env.NEXUS_PUBLIC_NATS_URL)
      : serversOf(env.NATS_URL).map(withoutUser);
  }

  ofExecutor(executorId: string, epoch: number): BusAnswer<ReturnType<Subjects['forExecutor']>> {
    return this.answer(this.subjects.forExecutor(executorId, epoch));
  }

  ofMember(credentialId: string): BusAnswer<ReturnType<Subjects['forMember']>> {
    return this.answer(this.subjects.forMember(credentialId));
  }

  private answer<Names>(subjects: Names): BusAnswer<Names> {
    return { servers: this.servers, credentials: null, subjects };
  }
}

const serversOf = (urls: string): string[] => urls.split(',').map((url) => url.trim());

/** The address without `user:password@`, which are the node's. */
const withoutUser = (url: string): string => url.replace(/^((?:\w+:\/\/)?)[^/@]*@/, '$1');
