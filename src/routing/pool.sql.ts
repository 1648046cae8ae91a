import { OVERRIDABLE_NAMES } from '../kernel/reserved-names.js';

const overridable = `array[${OVERRIDABLE_NAMES.map((name) => `'${name}'`).join(', ')}]`;

/** SQL: the name is the kernel's, and an account may give it to its providers. */
export const isOverridableName = (name: string): string => `(${name} = any (${overridable}))`;

/** SQL: a name may go to the pool: it is nobody's, or the account has opted its providers in (chapter 5, Where it goes). */
export const isGivenToPool = (account: string, name: string): string => `
  (not ${isOverridableName(name)} or exists (
    select from accounts o where o.id = ${account} and o.tool_provider_overrides @> array[${name}]))`;

/**
 * SQL: the provider whose announcement is `a` may take a call by this name from the pool, of the principal `m` and with this
 * origin of its approval. What it describes to no model goes to a person's call, or to one that a person let go, and to no
 * other (chapter 6, Requests): who joins a pool is not known when a call is accepted.
 */
export const mayTakeFromPool = (a: string, m: string, name: string, origin: string): string =>
  `(${m}.kind = 'human' or ${origin} is not distinct from 'human' or not ${name} = any (${a}.people_only))`;
