import type { FrozenCallable, FrozenDeclaration } from '../assembly/frozen-declaration.js';
import { elementTexts, memberTexts } from '../kernel/json/scan.js';

const LIMIT = { least: 1, most: 50, fallback: 10 } as const;
const QUERY_MAX = 1_000;

/** What `nexus.tools.search` was asked, or what is wrong with it. */
export type SearchRequest = { readonly query: string; readonly limit: number } | { readonly fault: string };

/** Reads `{query, limit?}`. */
export function readSearch(input: Readonly<Record<string, unknown>>): SearchRequest {
  const { query, limit = LIMIT.fallback } = input;
  if (typeof query !== 'string' || query.trim() === '' || query.length > QUERY_MAX) {
    return { fault: `query must be a string of 1 to ${QUERY_MAX} characters` };
  }
  if (typeof limit !== 'number' || !Number.isInteger(limit) || limit < LIMIT.least || limit > LIMIT.most) {
    return { fault: `limit must be an integer from ${LIMIT.least} to ${LIMIT.most}` };
  }
  return { query: query.trim(), limit };
}

/**
 * `nexus.tools.search` over a frozen declaration (chapter 6): the callable of that very name first, then those whose name,
 * description and skills hold all words, in the order of the declaration. Answers JSON text, in which each definition is
 * as it was frozen.
 */
export function searchTools(
  { callables }: FrozenDeclaration,
  { query, limit }: { readonly query: string; readonly limit: number },
): string {
  const words = query.toLowerCase().split(/\s+/);
  const exact = callables.get(query);
  const found = [...callables.values()].filter(
    (callable) => callable !== exact && words.every((word) => searchText(callable).includes(word)),
  );
  const all = exact ? [exact, ...found] : found;
  const rows = all.slice(0, limit).map(resultText);
  return `{"tools":[${rows.join(',')}],"truncated":${all.length > limit}}`;
}

function searchText({ definitionText }: FrozenCallable): string {
  const members = memberTexts(definitionText);
  const called = memberTexts(members.get('function') ?? '{}');
  return [called.get('name'), called.get('description'), ...skillTexts(members)].join('\n').toLowerCase();
}

/** `{name, definition, route?, skills}` */
function resultText({ name, definitionText }: FrozenCallable): string {
  const members = memberTexts(definitionText);
  const route = members.get('route');
  const definition = `{"type":"function","function":${members.get('function') ?? '{}'}}`;
  const routeMember = route === undefined ? '' : `,"route":${route}`;
  return `{"name":${JSON.stringify(name)},"definition":${definition}${routeMember},"skills":[${skillTexts(members).join(',')}]}`;
}

/** The documents that a skill callable was frozen with. */
const skillTexts = (members: ReadonlyMap<string, string>): string[] =>
  elementTexts(members.get('documents') ?? '[]');
