import { connect, credsAuthenticator, Events, type NatsConnection } from 'nats';
import { authenticatorOf, readCreds } from '../../src/nkeys/creds.js';
import type { TestBus } from '../support/factories.js';

/** A stock client with the credentials of an answer, which tells what the server lets it do. */
export class GrantProbe {
  private readonly denied: string[] = [];
  /** What the server ended the connection with, as the client tells it. */
  readonly faults: string[] = [];

  private constructor(readonly connection: NatsConnection) {
    void this.watch();
  }

  /** Rejects where the server does not let the credentials in. */
  static async connect({
    servers,
    credentials,
    subjects,
  }: TestBus<{ inbox_prefix: string }>): Promise<GrantProbe> {
    return new GrantProbe(
      await connect({
        servers,
        reconnect: false,
        inboxPrefix: subjects.inbox_prefix,
        authenticator: credsAuthenticator(new TextEncoder().encode(credentials ?? '')),
      }),
    );
  }

  /** Of these subjects, those that it may publish on. */
  async publishable(subjects: readonly string[]): Promise<string[]> {
    for (const subject of subjects) this.connection.publish(subject);
    return this.allowed('publish', subjects);
  }

  /** Of these subjects, each alone or with a queue as in `t.> q`, those that it may subscribe. */
  async subscribable(subjects: readonly string[]): Promise<string[]> {
    const subscriptions = subjects.map((text) => {
      const [subject = '', queue] = text.split(' ');
      return this.connection.subscribe(subject, {
        ...(queue === undefined ? {} : { queue }),
        callback: () => undefined,
      });
    });
    const allowed = await this.allowed('subscription', subjects);
    for (const subscription of subscriptions) subscription.unsubscribe();
    return allowed;
  }

  /** Resolves when the server has ended the connection. */
  async isCutOff(): Promise<void> {
    await this.connection.closed();
  }

  close(): Promise<void> {
    return this.connection.close();
  }

  private async allowed(operation: string, subjects: readonly string[]): Promise<string[]> {
    this.denied.length = 0;
    // what the server denies it has said before its answer to this
    await this.connection.flush();
    await new Promise((resolve) => setImmediate(resolve));
    return subjects.filter((text) => !this.denied.includes(`${operation} ${text}`));
  }

  private async watch(): Promise<void> {
    for await (const { type, data, permissionContext: context } of this.connection.status()) {
      if (type !== Events.Error) continue;
      if (context) {
        const { operation, subject, queue } = context as typeof context & { queue?: string };
        this.denied.push(`${operation} ${subject}${queue ? ` ${queue}` : ''}`);
      } else this.faults.push(data as string);
    }
  }
}

/** Whether the server refuses these credentials now. */
export async function isRefused({ servers, credentials }: TestBus<object>): Promise<boolean> {
  try {
    const authenticator = authenticatorOf(readCreds(credentials ?? ''));
    await (await connect({ servers, reconnect: false, authenticator })).close();
    return false;
  } catch (fault) {
    if ((fault as { code?: string }).code === 'AUTHORIZATION_VIOLATION') return true;
    throw fault;
  }
}
