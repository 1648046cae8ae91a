import type { AnnouncementRecord } from '../announcement/announcement-directory.js';
import { JsonText } from '../db/json-text.js';
import { elementTexts, memberTexts } from '../kernel/json/scan.js';
import { withCatalogue } from './skill-callable.js';

/** The wire shapes of providers that an assembly can answer in. */
export const PROVIDER_FORMATS = ['openai', 'anthropic', 'mcp'] as const;

export type ProviderFormat = (typeof PROVIDER_FORMATS)[number];

/** The kernel tools, by wire and canonical name, that let a model find and call what its provider was not given. */
const FINDERS = new Map([
  ['tool_search', 'nexus.tools.search'],
  ['tool_call', 'nexus.tools.call'],
]);

interface Definition {
  readonly members: ReadonlyMap<string, string>;
  readonly function: ReadonlyMap<string, string>;
}

/**
 * The same list in a provider's wire shape, without routes; descriptions and schemas stay the bytes they are. A skill
 * callable's description ends with its documents, which a provider has no field for. A definition that is deferred is
 * left out when `tool_search` and `tool_call` are declared, since a model then reaches it through them (chapter 4).
 */
export function providerTools(toolDefinitions: JsonText, format: ProviderFormat): JsonText {
  const definitions = elementTexts(toolDefinitions.text).map(readDefinition);
  const finders = new Set(definitions.map(finderOf).filter((finder) => finder !== undefined));
  const defers = finders.size === FINDERS.size;
  const shown = definitions.filter((known) => !(defers && isDeferred(known)));
  return new JsonText(`[${shown.map((definition) => SHAPES[format](partsOf(definition))).join(',')}]`);
}

function readDefinition(text: string): Definition {
  const members = memberTexts(text);
  return { members, function: memberTexts(members.get('function') ?? '{}') };
}

/** The finders themselves are never deferred: nothing else would find them. */
const isDeferred = (definition: Definition): boolean =>
  definition.members.get('defer_loading') === 'true' && finderOf(definition) === undefined;

/** The canonical name of the finder that a definition is, if it is one. */
function finderOf({ members, function: declared }: Definition): string | undefined {
  const alias = members.get('canonical');
  if (alias !== undefined)
    return [...FINDERS.values()].find((canonical) => JSON.stringify(canonical) === alias);
  return members.has('route') ? undefined : FINDERS.get(JSON.parse(declared.get('name') ?? '""') as string);
}

/** The members of `function` as JSON texts, in their order; the description completed where there are documents. */
function partsOf({ members, function: declared }: Definition): Map<string, string> {
  const parts = new Map(declared);
  const documents = members.get('documents');
  if (documents !== undefined) {
    const description = JSON.parse(parts.get('description') ?? '""') as string;
    const whole = withCatalogue(description, JSON.parse(documents) as AnnouncementRecord['documents']);
    parts.set('description', JSON.stringify(whole));
  }
  return parts;
}

const SHAPES: Readonly<Record<ProviderFormat, (parts: ReadonlyMap<string, string>) => string>> = {
  openai: (parts) => `{"type":"function","function":${objectText([...parts])}}`,
  anthropic: (parts) => namedText(parts, 'input_schema'),
  mcp: (parts) => namedText(parts, 'inputSchema'),
};

function namedText(parts: ReadonlyMap<string, string>, schemaKey: string): string {
  const keys = { name: 'name', description: 'description', parameters: schemaKey };
  return objectText(
    Object.entries(keys).flatMap(([key, shown]): [string, string][] => {
      const text = parts.get(key);
      return text === undefined ? [] : [[shown, text]];
    }),
  );
}

const objectText = (members: readonly (readonly [string, string])[]): string =>
  `{${members.map(([key, text]) => `${JSON.stringify(key)}:${text}`).join(',')}}`;
