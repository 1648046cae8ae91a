import { fixedAccountJwt, operatorJwt } from './account-jwt.js';
import type { BusKeys } from './bus-keys.js';

/** Where a server listens, and a folder of its own for the accounts that nodes tell it of. */
export interface ServerPlace {
  readonly listen: string;
  readonly dir: string;
}

/**
 * Bodies on the bus are at most 1 MiB (chapter 9): the server lets a little more pass, so that Nexus itself refuses. A
 * client's JWT rides in one control line, and grows with its modules.
 */
const limits = (listen: string): string => `listen: ${JSON.stringify(listen)}
max_payload: 1500000
max_control_line: 65536
write_deadline: "10s"
`;

/** A nats-server that lets everybody in, for token mode. */
export const tokenServerConfig = ({ listen }: ServerPlace): string => limits(listen);

/**
 * A nats-server that lets in whom Nexus has issued credentials to. Holds no private key. The same keys make the same text.
 */
export function managedServerConfig(keys: BusKeys, { listen, dir }: ServerPlace): string {
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
