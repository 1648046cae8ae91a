import { createHash, randomBytes } from 'node:crypto';
import type { DeliveryClaim } from '../../routing/deliveries.js';

const TOKEN_BYTES = 24;
/** Tokens whose bytes are drawn at once: a draw costs as much as all the rest of a claim. */
const DRAWN = 128;

let drawn = Buffer.alloc(0);

/** A new claim, for whatever epoch the executor is at. */
export function newClaim(): Omit<DeliveryClaim, 'epoch'> {
  if (drawn.length === 0) drawn = randomBytes(DRAWN * TOKEN_BYTES);
  const token = drawn.toString('base64url', 0, TOKEN_BYTES);
  drawn = drawn.subarray(TOKEN_BYTES);
  const tokenSha256 = createHash('sha256').update(token).digest('hex');
  return { token, tokenSha256, askedAt: performance.now() };
}
