import { fixedAccountJwt, operatorJwt } from './account-jwt.js';
import type { BusKeys } from './bus-keys.js';

/** Where a server listens, and a folder of its own for the accounts that nodes tell it of. */
export interface ServerPlace {
  readonly listen: string;
  readonly dir: string;
}

/**
 * Bodies on the bus are at most 1 MiB (chapter 9): the server lets a little more pass, so that Nexus itself refuses. A
 * client's JWT rides in one control line, and grows with its modules. Many clients that come back at once may take longer
 * to sign than the 2 s that a server waits by default.
 */
const limits = (listen: string): string => `listen: ${JSON.stringify(listen)}
max_payload: 1500000
max_control_line: 65536
write_deadline: "10s"
authorization: { timeout: 10 }
`;

/**
 * What a nats-server is started with: with keys it lets in whom Nexus has issued credentials to, without it lets in
 * everybody, for token mode. Holds no private key. The same keys make the same text.
 */
export function serverConfig(keys: BusKeys | undefined, { listen, dir }: ServerPlace): string {
  if (!keys) return limits(listen);
  const { system, nodes } = keys;
  return `${limits(listen)}
operator: ${operatorJwt(keys)}
system_account: ${system.publicKey}
resolver: {
  type: full
  dir: ${JSON.stringify(dir)}
  allow_delete: false
  interval: "2m"
  limit: 1000000
}
resolver_preload: {
  ${system.publicKey}: ${fixedAccountJwt(keys, system, 'Nexus system')}
  ${nodes.publicKey}: ${fixedAccountJwt(keys, nodes, 'Nexus nodes')}
}
`;
}
