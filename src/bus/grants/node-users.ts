import { Inject, Injectable } from '@nestjs/common';
import type { ConnectionOptions } from 'nats';
import { ENV, type Env } from '../../config/env.js';
import { NODE_ID } from '../../config/node-identity.js';
import type { AccountId } from '../../db/account-id.js';
import { authenticatorOf } from '../../nkeys/creds.js';
import type { NKey } from '../../nkeys/nkey.js';
import { NODE_SERVICES } from '../node-services.js';
import { BusKeys } from './bus-keys.js';
import { loadBusKeys } from './bus-keys-file.js';
import { Grants, type Permissions } from './permissions.js';
import { newUser } from './user-jwt.js';

/**
 * The node's own users on a managed bus: a key for each connection, made when it is opened and kept nowhere. Undefined
 * `keys` are a bus that Nexus does not manage.
 */
@Injectable()
export class NodeUsers {
  readonly keys: BusKeys | undefined;
  private readonly grants: Grants;

  constructor(@Inject(ENV) env: Env) {
    this.grants = new Grants(env.NEXUS_BUS_PREFIX);
    if (env.NEXUS_BUS_AUTH === 'managed') this.keys = loadBusKeys(env.NEXUS_BUS_KEYS, env.NEXUS_HOME);
  }

  /** In the nodes' own account. */
  amongNodes(): ConnectionOptions {
    return this.as((keys) => keys.nodes, this.grants.amongNodes());
  }

  /** In a Nexus account. */
  inAccount(accountId: AccountId): ConnectionOptions {
    return this.as((keys) => keys.account(accountId), this.grants.node(NODE_ID, NODE_SERVICES));
  }

  /** In the system account, only to tell the server of accounts. */
  asSystem(): ConnectionOptions {
    const permissions = { publish: ['$SYS.REQ.CLAIMS.UPDATE'], subscribe: ['_INBOX.>'] };
    return this.as((keys) => keys.system, permissions);
  }

  private as(accountOf: (keys: BusKeys) => NKey, permissions: Permissions): ConnectionOptions {
    if (!this.keys) return {};
    return {
      authenticator: authenticatorOf(newUser(accountOf(this.keys), `node ${NODE_ID}`, permissions)),
    };
  }
}
