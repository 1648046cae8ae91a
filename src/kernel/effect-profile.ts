import { type Fault, fault } from './fault.js';

/** The closed values of the five keys of an effect profile (chapter 2). */
export const EFFECT_PROFILE_VALUES = {
  kind: ['pure', 'read_only', 'write'],
  destructive: [true, false],
  effect_scope: ['closed', 'open'],
  idempotency: ['intrinsic', 'keyed', 'none'],
  reconciliation: ['none', 'lookup'],
} as const;

/** What a tool may do to the world, as its executor declares it. */
export type EffectProfile = {
  readonly [Key in keyof typeof EFFECT_PROFILE_VALUES]: (typeof EFFECT_PROFILE_VALUES)[Key][number];
};

/** What a tool is taken for that says nothing of its effects (chapter 8). */
export const WORST_EFFECT_PROFILE: EffectProfile = {
  kind: 'write',
  destructive: true,
  effect_scope: 'open',
  idempotency: 'none',
  reconciliation: 'none',
};

const KEYS = Object.keys(EFFECT_PROFILE_VALUES) as (keyof EffectProfile)[];

/** What is wrong with an effect profile, a JSON value or undefined where it is absent: it carries exactly the five keys. */
export function effectProfileFaults(value: unknown, path: string): Fault[] {
  if (value === undefined) return [fault(path, 'is required')];
  const exactly = fault(path, `must carry exactly ${KEYS.join(', ')}`);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [exactly];
  const profile = value as Record<string, unknown>;
  const present = KEYS.filter((key) => Object.hasOwn(profile, key));
  const isExact = present.length === KEYS.length && Object.keys(profile).length === KEYS.length;
  const values = present.flatMap((key) =>
    valueFaults(profile[key], EFFECT_PROFILE_VALUES[key], `${path}.${key}`),
  );
  return isExact ? values : [exactly, ...values];
}

function valueFaults(value: unknown, closed: readonly unknown[], path: string): Fault[] {
  return closed.includes(value) ? [] : [fault(path, `must be one of ${closed.join(', ')}`)];
}
