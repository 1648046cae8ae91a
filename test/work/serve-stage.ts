import { headers, type Msg, type NatsConnection } from 'nats';
import type { BusClient } from '../support/bus-client.js';
import { announce, onBus, type TestExecutor, tool } from '../support/factories.js';
import type { TestNode } from '../support/node.js';
import { type Door, type DoorAnswer, type TaskName } from './stage.js';

/** A call as it was delivered, with what its headers say. */
export interface Delivered extends TaskName {
  readonly token: string;
  readonly timeoutMs: number;
  readonly input: string;
  /** Answers it. */
  readonly reply: (payload?: string | Uint8Array, head?: Record<string, string>) => void;
  readonly message: Msg;
}

type Handle = (call: Delivered) => void;

/** An executor's program: it hears its tools' own subjects as a stock NATS client does, and speaks the verbs. */
export class Server implements Door {
  readonly name = 'bus';
  readonly calls: Delivered[] = [];
  private watch: () => void = () => undefined;

  private constructor(
    private readonly client: BusClient,
    private readonly executor: TestExecutor,
  ) {}

  static async connect(executor: TestExecutor): Promise<Server> {
    return new Server(await onBus(executor), executor);
  }

  get connection(): NatsConnection {
    return this.client.connection;
  }

  /** Serves a tool; `handle` answers, or keeps its peace. Resolves when the bus knows. */
  async serve(name: string, handle: Handle = () => undefined): Promise<void> {
    this.connection.subscribe(`${this.executor.subjects.tool}.${name}`, {
      queue: 'q',
      callback: (fault, message) => {
        if (fault) throw fault;
        const call = deliveredOf(message);
        this.calls.push(call);
        handle(call);
        this.watch();
      },
    });
    await this.connection.flush();
  }

  /** Resolves with what has come once it is so many calls. */
  async heard(count: number): Promise<Delivered[]> {
    while (this.calls.length < count) await new Promise<void>((resolve) => (this.watch = resolve));
    return [...this.calls];
  }

  ask(verb: string, fields: object | string = {}): Promise<DoorAnswer> {
    return this.client.ask(verb, fields);
  }

  close(): Promise<void> {
    return this.client.close();
  }
}

function deliveredOf(message: Msg): Delivered {
  const head = (name: string): string => message.headers?.get(name) ?? '';
  return {
    run_public_id: head('Nexus-Run'),
    task_key: head('Nexus-Task'),
    token: head('Nexus-Claim-Token'),
    timeoutMs: Number(head('Nexus-Timeout-Ms')),
    input: message.string(),
    message,
    reply: (payload = '', fields = {}) => {
      const own = headers();
      for (const [key, value] of Object.entries(fields)) own.set(key, value);
      message.respond(Buffer.from(payload), Object.keys(fields).length > 0 ? { headers: own } : undefined);
    },
  };
}

/** Announces delivery `serve`, of tools of these names. */
export const announceServe = (
  node: TestNode,
  executor: TestExecutor,
  names: readonly string[],
  fields: object = {},
  each: object = {},
): Promise<void> =>
  announce(
    node,
    executor,
    names.map((name) => tool(name, each)),
    { delivery: 'serve', ...fields },
  );
