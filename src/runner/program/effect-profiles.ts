import type { EffectProfile } from '../sdk/wire.js';

/** Looks, and changes nothing. */
export const LOOKS: EffectProfile = {
  kind: 'read_only',
  destructive: false,
  effect_scope: 'closed',
  idempotency: 'intrinsic',
  reconciliation: 'none',
};

/** Replaces a file whole: doing it twice is doing it once. */
export const REPLACES: EffectProfile = {
  kind: 'write',
  destructive: true,
  effect_scope: 'closed',
  idempotency: 'intrinsic',
  reconciliation: 'none',
};

/** Changes what it finds: a second time it finds something else. */
export const CHANGES: EffectProfile = { ...REPLACES, idempotency: 'none' };

/** May do anything that the account it runs under may do. */
export const ANYTHING: EffectProfile = {
  kind: 'write',
  destructive: true,
  effect_scope: 'open',
  idempotency: 'none',
  reconciliation: 'none',
};
