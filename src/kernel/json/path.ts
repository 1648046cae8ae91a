/** Characters of a key that a path shows; what a stranger sends must not make a message as long as itself. */
const SHOWN_KEY = 128;

/** The path of a member: `tools[0].input_schema`. A key that is no plain word is quoted: `environment["a b"]`. */
export function memberPath(parent: string, key: string): string {
  const shown = key.length > SHOWN_KEY ? `${key.slice(0, SHOWN_KEY)}…` : key;
  if (!/^[\w$-]+…?$/.test(shown)) return `${parent}[${JSON.stringify(shown)}]`;
  return parent === '' ? shown : `${parent}.${shown}`;
}

/** The path of an element: `tools[0]`. */
export const elementPath = (parent: string, index: number): string => `${parent}[${index}]`;
