import { Inject, Injectable } from '@nestjs/common';
import { ENV, type Env } from '../../config/env.js';
import { BusConnection, serversOf } from '../bus-connection.js';
import { NodeUsers } from './node-users.js';

/** A server that has not answered within this did not take it. */
const ANSWERED_WITHIN_MS = 2_000;

/** The connection in the system account, over which the server is told of accounts. Unused on a bus that is not ours. */
@Injectable()
export class SystemLink {
  readonly connection: BusConnection;

  constructor(@Inject(ENV) env: Env, users: NodeUsers) {
    this.connection = new BusConnection('system', () => ({
      servers: serversOf(env.NATS_URL),
      inboxPrefix: '_INBOX.system',
      ...users.asSystem(),
    }));
  }

  /** Resolves once the server has taken the account's JWT; throws where it did not. */
  async tell(accountJwt: string): Promise<void> {
    const { current, isUp } = this.connection;
    if (!current || !isUp) throw new Error('the system connection is down');
    const answer = await current.request('$SYS.REQ.CLAIMS.UPDATE', accountJwt, {
      timeout: ANSWERED_WITHIN_MS,
    });
    const { data, error } = answer.json<{ data?: { code: number }; error?: { description?: string } }>();
    if (data?.code !== 200)
      throw new Error(`the server refused an account: ${error?.description ?? 'no reason'}`);
  }
}
