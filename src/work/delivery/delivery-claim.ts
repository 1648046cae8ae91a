import { createHash, randomBytes } from 'node:crypto';
import type { DeliveryClaim } from '../../routing/deliveries.js';

/** A new claim, for whatever epoch the executor is at. */
export function newClaim(): Omit<DeliveryClaim, 'epoch'> {
  const token = randomBytes(24).toString('base64url');
  const tokenSha256 = createHash('sha256').update(token).digest('hex');
  return { token, tokenSha256, askedAt: performance.now() };
}
