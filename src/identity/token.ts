import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { newId } from '../db/ids.js';
import type { Plane } from '../doors/verb.js';

/** `<prefix><credential id>_<32 random bytes, base64url>` (chapter 1). */
const PREFIXES: Readonly<Record<Plane, string>> = {
  member: 'nxm_',
  executor_transport: 'nxe_',
  platform: 'nxp_',
};
const PLANES = Object.entries(PREFIXES) as [Plane, string][];

const TOKEN = /^nx[mep]_([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})_([A-Za-z0-9_-]{43})$/;

export interface MintedToken {
  /** The credential's public id. */
  readonly id: string;
  /** The whole token, shown once and stored nowhere. */
  readonly token: string;
  readonly secretSha256: Buffer;
}

export interface PresentedToken {
  readonly plane: Plane;
  readonly id: string;
  readonly secretSha256: Buffer;
}

/** A new token of a plane. */
export function mintToken(plane: Plane): MintedToken {
  const id = newId();
  const secret = randomBytes(32).toString('base64url');
  return { id, token: `${PREFIXES[plane]}${id}_${secret}`, secretSha256: hash(secret) };
}

/** Reads a token as presented; undefined when it is malformed. */
export function parseToken(token: string): PresentedToken | undefined {
  const match = TOKEN.exec(token);
  const plane = PLANES.find(([, prefix]) => token.startsWith(prefix))?.[0];
  if (!match?.[1] || !match[2] || !plane) return undefined;
  return { plane, id: match[1], secretSha256: hash(match[2]) };
}

/** Compares two secrets' hashes in constant time. */
export const sameSecret = (one: Buffer, other: Buffer): boolean =>
  one.length === other.length && timingSafeEqual(one, other);

const hash = (secret: string): Buffer => createHash('sha256').update(secret).digest();
