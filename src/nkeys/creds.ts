import type { Authenticator } from 'nats';
import { NKey } from './nkey.js';

/** A user JWT and the key it was issued for, as the text that every NATS client and the `nats` command take. */
export function writeCreds(jwt: string, key: NKey): string {
  return `-----BEGIN NATS USER JWT-----
${jwt}
------END NATS USER JWT------

************************* IMPORTANT *************************
NKEY Seed printed below can be used to sign and prove identity.
NKEYs are sensitive and should be treated as secrets.

-----BEGIN USER NKEY SEED-----
${key.seed}
------END USER NKEY SEED------

*************************************************************
`;
}

/** A JWT, and the key that proves it. */
export interface UserIdentity {
  readonly jwt: string;
  readonly key: NKey;
}

/** Reads a `.creds` text. Throws where it is none; the message never holds it. */
export function readCreds(text: string): UserIdentity {
  const [jwt, seed] = [...text.matchAll(/-{3,}BEGIN [^-]+-{3,}\s+(\S+)\s+-{3,}END/g)].map(([, body]) => body);
  if (jwt === undefined || seed === undefined)
    throw new Error('These are no NATS credentials: a JWT and a seed are expected');
  return { jwt, key: NKey.fromSeed(seed) };
}

/** Proves the identity at each connect. It must not throw: the client would close for good. */
export function authenticatorOf({ jwt, key }: UserIdentity): Authenticator {
  return (nonce) => ({
    jwt,
    nkey: key.publicKey,
    sig: key.sign(Buffer.from(nonce ?? '')).toString('base64url'),
  });
}
