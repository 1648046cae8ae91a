import { OVERRIDABLE_NAMES } from '../kernel/reserved-names.js';

const overridable = `array[${OVERRIDABLE_NAMES.map((name) => `'${name}'`).join(', ')}]`;

/** SQL: the name is the kernel's, and an account may give it to its providers. */
export const isOverridableName = (name: string): string => `(${name} = any (${overridable}))`;

/** SQL: a name may go to the pool: it is nobody's, or the account has opted its providers in (chapter 5, Where it goes). */
export const isGivenToPool = (account: string, name: string): string => `
  (not ${isOverridableName(name)} or exists (
    select from accounts o where o.id = ${account} and o.tool_provider_overrides @> array[${name}]))`;
