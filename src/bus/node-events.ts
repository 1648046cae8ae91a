import { Inject, Injectable, Logger } from '@nestjs/common';
import { EventEmitter } from 'node:events';
import { ENV, type Env } from '../config/env.js';
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
  /** A task was accepted, moved or settled. */
  task: { run: string; key: string };
  /** A run was stopped or pruned. */
  run: { id: string };
  /** A progress frame for whoever follows the run; never stored. */
  progress: { run: string; key: string; frame: unknown };
  /** Executors that this node heard from in the last seconds. */
  presence: { executors: string[] };
}

type Topic = keyof NodeTopics;

const TOPICS = [
  'credential',
  'executor',
  'member',
  'task',
  'run',
  'progress',
  'presence',
] as const satisfies Topic[];

/**
 * Events among nodes: whoever listens here hears this node's own at once and the others' over the bus. An event
 * only brings a read forward: while `isReliable` is false some may be lost, so caches must not be trusted and waiters
 * must look for themselves.
 */
@Injectable()
export class NodeEvents {
  private readonly log = new Logger(NodeEvents.name);
  private readonly emitter = new EventEmitter().setMaxListeners(0);
  private readonly subjects: Subjects;

  constructor(
    @Inject(ENV) env: Env,
    private readonly connections: BusConnections,
  ) {
    this.subjects = new Subjects(env.NEXUS_BUS_PREFIX);
    connections.nodes.onOpen((connection) => {
      for (const topic of TOPICS) {
        connection.subscribe(this.subjects.node(topic), {
          callback: (fault, message) => {
            if (!fault) this.hear(topic, message.data);
          },
        });
      }
    });
  }

  /** Whether events of other nodes reach this one just now. */
  get isReliable(): boolean {
    return this.connections.nodes.isUp;
  }

  /** Tells this node's listeners at once, and every other node. */
  publish<T extends Topic>(topic: T, payload: NodeTopics[T]): void {
    this.emitter.emit(topic, payload);
    this.connections.nodes.publish(this.subjects.node(topic), JSON.stringify(payload));
  }

  /** As `publish`, and resolves when the event has reached the server: what fences must be told before the answer. */
  async announce<T extends Topic>(topic: T, payload: NodeTopics[T]): Promise<void> {
    this.publish(topic, payload);
    await this.connections.nodes.flush();
  }

  /** Listens; answers the function that stops listening. */
  on<T extends Topic>(topic: T, listener: (payload: NodeTopics[T]) => void): () => void {
    this.emitter.on(topic, listener);
    return () => this.emitter.off(topic, listener);
  }

  /** Calls `listener` whenever events may have been missed: when the connection is lost and when it is back. */
  onGap(listener: () => void): void {
    this.connections.nodes.onChange(listener);
  }

  private hear(topic: Topic, data: Uint8Array): void {
    try {
      this.emitter.emit(topic, JSON.parse(Buffer.from(data).toString('utf8')));
    } catch (fault) {
      this.log.warn(`a ${topic} event was not understood: ${(fault as Error).message}`);
    }
  }
}
