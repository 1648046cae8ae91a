import { Inject, Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import { EventEmitter } from 'node:events';
import { RequestStrategy } from 'nats';
import { ENV, type Env } from '../config/env.js';
import type { AccountId } from '../db/account-id.js';
import { newId } from '../db/ids.js';
import { BusConnections } from './bus-connections.js';
import { Subjects } from './subjects.js';

/** What nodes tell each other. A wrong payload does not compile. */
export interface NodeTopics {
  /** A credential was made, revoked or has expired. */
  credential: { id: string };
  /** An executor was changed: registered, re-paired, revoked, shut down, resumed, announced. */
  executor: { id: string };
  /** A member was changed: profile, floor or rules. */
  member: { id: string };
  /** A task was accepted, moved, or settled: then it says so. */
  task: { run: string; key: string; settled?: true };
  /** A run was stopped or pruned. */
  run: { id: string };
  /** Calls wait for an executor that serves: until one of its calls ends, or since nobody listens (`unheard`). */
  undelivered: { executor: string; account: AccountId; unheard: boolean };
  /** A progress frame for whoever follows the run; never stored. */
  progress: { run: string; key: string; frame: unknown };
  /** An account has a bus user: whoever may be its first. */
  bus_account: { id: AccountId };
  /** Executors that this node heard from in the last seconds. */
  presence: { executors: string[] };
}

type Topic = keyof NodeTopics;

/** How often a node says that it is there, and after how long a silent one is taken to be gone. */
const HELLO_MS = 3_000;
const GONE_MS = 10_000;
/** How long an announcement waits at most for the nodes it knows: a node that hangs delays, it does not block. */
const HEARD_MS = 250;

const TOPICS = [
  'credential',
  'executor',
  'member',
  'task',
  'run',
  'progress',
  'undelivered',
  'bus_account',
  'presence',
] as const satisfies Topic[];

/**
 * Events among nodes: whoever listens here hears this node's own at once and the others' over the bus. An event
 * only brings a read forward: while `isReliable` is false some may be lost, so caches must not be trusted and waiters
 * must look for themselves.
 */
@Injectable()
export class NodeEvents implements BeforeApplicationShutdown {
  private readonly log = new Logger(NodeEvents.name);
  private readonly emitter = new EventEmitter().setMaxListeners(0);
  private readonly subjects: Subjects;
  private readonly id = newId();
  private readonly peers = new Map<string, number>();
  private greeting: NodeJS.Timeout | undefined;

  constructor(
    @Inject(ENV) env: Env,
    private readonly connections: BusConnections,
  ) {
    this.subjects = new Subjects(env.NEXUS_BUS_PREFIX);
    connections.nodes.onOpen((connection) => {
      for (const topic of TOPICS) {
        connection.subscribe(this.subjects.node(topic), {
          callback: (fault, message) => {
            if (fault) return;
            this.hear(topic, message.data);
            if (message.reply) message.respond();
          },
        });
      }
      const hello = this.subjects.node('hello');
      const greet = (answer: boolean): void =>
        connection.publish(hello, JSON.stringify({ node: this.id, answer }));
      connection.subscribe(hello, {
        callback: (fault, message) => {
          if (fault) return;
          const { node, answer, gone } = message.json<{ node: string; answer?: boolean; gone?: boolean }>();
          if (gone) return void this.peers.delete(node);
          const known = this.peers.has(node);
          this.peers.set(node, Date.now());
          if (!known && !answer) greet(true);
        },
      });
      greet(false);
      this.greeting = setInterval(() => greet(true), HELLO_MS).unref();
    });
  }

  /** Says that this node goes, so that no announcement waits for it. Called before the connections are closed. */
  beforeApplicationShutdown(): void {
    clearInterval(this.greeting);
    this.connections.nodes.publish(
      this.subjects.node('hello'),
      JSON.stringify({ node: this.id, gone: true }),
    );
  }

  /** Whether events of other nodes reach this one just now. */
  get isReliable(): boolean {
    return this.connections.nodes.isUp;
  }

  /** Tells this node's listeners at once, and every other node that is known. */
  publish<T extends Topic>(topic: T, payload: NodeTopics[T]): void {
    this.emitter.emit(topic, payload, false);
    if (this.livePeers() === 0) return;
    this.connections.nodes.publish(this.subjects.node(topic), JSON.stringify(payload));
  }

  /**
   * As `publish`, and resolves when every node that is known has heard it (within 250 ms): what fences must have happened
   * everywhere before the answer.
   */
  async announce<T extends Topic>(topic: T, payload: NodeTopics[T]): Promise<void> {
    this.emitter.emit(topic, payload, false);
    const connection = this.connections.nodes.current;
    if (!connection || !this.isReliable) return;
    const peers = this.livePeers();
    if (peers === 0) {
      this.connections.nodes.publish(this.subjects.node(topic), JSON.stringify(payload));
      return this.connections.nodes.flush(HEARD_MS);
    }
    const plan = { strategy: RequestStrategy.Count, maxMessages: peers, maxWait: HEARD_MS } as const;
    try {
      for await (const heard of await connection.requestMany(
        this.subjects.node(topic),
        JSON.stringify(payload),
        plan,
      )) {
        if (heard instanceof Error) break;
      }
    } catch (fault) {
      this.log.warn(`a ${topic} event was not heard by every node: ${(fault as Error).message}`);
    }
  }

  /** Listens; `isRemote` says that another node told it. Answers the function that stops listening. */
  on<T extends Topic>(topic: T, listener: (payload: NodeTopics[T], isRemote: boolean) => void): () => void {
    this.emitter.on(topic, listener);
    return () => this.emitter.off(topic, listener);
  }

  /** Calls `listener` whenever events may have been missed: when the connection is lost and when it is back. */
  onGap(listener: () => void): void {
    this.connections.nodes.onChange(listener);
  }

  private livePeers(): number {
    for (const [node, heardAt] of this.peers) if (Date.now() - heardAt > GONE_MS) this.peers.delete(node);
    return this.peers.size;
  }

  private hear(topic: Topic, data: Uint8Array): void {
    try {
      this.emitter.emit(topic, JSON.parse(Buffer.from(data).toString('utf8')), true);
    } catch (fault) {
      this.log.warn(`a ${topic} event was not understood: ${(fault as Error).message}`);
    }
  }
}
