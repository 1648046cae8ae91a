import { connect, headers, type Msg, type NatsConnection } from 'nats';
import { SERVERS } from './database.js';

export interface BusAnswer {
  /** The status that the bus door names in its headers, 200 for a success. */
  readonly status: number;
  readonly code: string | undefined;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- a test reads what it expects, and fails where it is not
  readonly body: any;
  readonly text: string;
  readonly message: Msg;
}

/** An executor or a member on the bus, by what its registration or credential said (token mode). */
export class BusClient {
  private constructor(
    readonly connection: NatsConnection,
    private readonly prefix: string,
    private readonly token: string | undefined,
  ) {}

  /** `subjects` is `bus.subjects` of the answer: `{executor|member, inbox_prefix, …}`. */
  static async connect(
    subjects: { executor?: string; member?: string; inbox_prefix: string },
    token?: string,
  ): Promise<BusClient> {
    const connection = await connect({
      servers: SERVERS.nats,
      inboxPrefix: subjects.inbox_prefix,
      noAsyncTraces: true,
    });
    return new BusClient(connection, (subjects.executor ?? subjects.member) as string, token);
  }

  /** Asks a verb; a string or bytes go out as they are. */
  async ask(
    verb: string,
    body: unknown = {},
    { token = this.token, timeout = 10_000 } = {},
  ): Promise<BusAnswer> {
    const head = headers();
    if (token !== undefined) head.set('Authorization', `Bearer ${token}`);
    const payload = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
    const message = await this.connection.request(`${this.prefix}.${verb}`, payload, {
      timeout,
      headers: head,
    });
    const text = message.string();
    const code = message.headers?.get('Nats-Service-Error') || undefined;
    const status = code === undefined ? 200 : Number(message.headers?.get('Nats-Service-Error-Code'));
    return { status, code, text, body: JSON.parse(text) as unknown, message };
  }

  async close(): Promise<void> {
    await this.connection.close();
  }
}
