import { createHash } from 'node:crypto';
import { toBase32 } from '../../nkeys/base32.js';
import type { NKey } from '../../nkeys/nkey.js';

/** What a JWT of NATS says beside its claims. Times are whole seconds since 1970. */
export interface JwtHead {
  readonly name: string;
  /** The public key that the JWT is about. */
  readonly subject: string;
  readonly issuedAt: number;
  readonly expiresAt?: number | undefined;
}

const HEADER = base64Json({ typ: 'JWT', alg: 'ed25519-nkey' });

/** Signs NATS claims (JWT version 2). The same input makes the same text. */
export function signJwt(issuer: NKey, head: JwtHead, nats: object): string {
  const claims = {
    iat: head.issuedAt,
    iss: issuer.publicKey,
    name: head.name,
    sub: head.subject,
    ...(head.expiresAt === undefined ? {} : { exp: head.expiresAt }),
    nats: { ...nats, version: 2 },
  };
  const jti = toBase32(createHash('sha256').update(JSON.stringify(claims)).digest());
  const body = `${HEADER}.${base64Json({ jti, ...claims })}`;
  return `${body}.${issuer.sign(Buffer.from(body)).toString('base64url')}`;
}

function base64Json(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
