import { connect, headers, type Msg, type NatsConnection } from 'nats';
import { authenticatorOf, readCreds } from '../../src/nkeys/creds.js';
import type { TestBus } from './factories.js';

export interface BusAnswer {
  /** The status that the bus door names in its headers, 200 for a success. */
  readonly status: number;
  readonly code: string | undefined;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- a test reads what it expects, and fails where it is not
  readonly body: any;
  readonly text: string;
  readonly message: Msg;
}

/** An executor or a member on the bus, by what its registration or credential said. */
export class BusClient {
  private constructor(
    readonly connection: NatsConnection,
    private readonly prefix: string,
    private readonly token: string | undefined,
  ) {}

  /** Connects with the credentials; without any, every message carries `token`. */
  static async connect(
    { servers, credentials, subjects }: TestBus<{ executor?: string; member?: string; inbox_prefix: string }>,
    token?: string,
  ): Promise<BusClient> {
    const connection = await connect({
      servers,
      inboxPrefix: subjects.inbox_prefix,
      reconnect: false,
      noAsyncTraces: true,
      ...(credentials === null ? {} : { authenticator: authenticatorOf(readCreds(credentials)) }),
    });
    const prefix = (subjects.executor ?? subjects.member) as string;
    return new BusClient(connection, prefix, credentials === null ? token : undefined);
  }

  /** Asks a verb; a string or bytes go out as they are. */
  async ask(
    verb: string,
    body: unknown = {},
    { token = this.token, timeout = 10_000, anonymous = false } = {},
  ): Promise<BusAnswer> {
    const head = headers();
    if (token !== undefined && !anonymous) head.set('Authorization', `Bearer ${token}`);
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

  /** Resolves when the server has ended the connection. */
  async isCutOff(): Promise<void> {
    await this.connection.closed();
  }

  async close(): Promise<void> {
    await this.connection.close();
  }
}
