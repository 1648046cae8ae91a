import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Refusal } from '../errors/refusal.js';
import { EFFECT_PROFILE_VALUES } from '../kernel/effect-profile.js';
import { elementPath, memberPath } from '../kernel/json/path.js';
import { elementTexts, memberTexts } from '../kernel/json/scan.js';
import { isDocumentName, isServedName } from '../kernel/names.js';
import { reservedNamespace } from '../kernel/reserved-names.js';
import { parseAnnouncement } from './announcement-grammar.js';

type Json = Record<string, unknown>;

const MODULES = ['tools', 'files'];
const optional = { requiredKeys: [] };
/** Any storable text, and often text that looks like JSON. */
const anyText = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: fc.constantFrom('"', '\\', '{', '}', '[', ']', 'u0000', 'é', '😀') }),
);
const storable = (text: string): boolean => !text.includes('\0');
const nonBlank = anyText.filter((text) => text.trim() !== '' && storable(text));
const key = anyText.filter(storable);
const extra = fc.dictionary(
  key.filter((name) => !KNOWN.has(name)),
  fc
    .jsonValue({ maxDepth: 3, stringUnit: 'grapheme' })
    .filter((value) => !JSON.stringify(value).includes('\\u0000')),
  { maxKeys: 3 },
);
const KNOWN = new Set([
  'name',
  'effect_profile',
  'timeout_ms',
  'description',
  'input_schema',
  'module',
  'tools',
  'environment',
  'documents',
  'delivery',
  'max_in_flight',
]);

const { kind, destructive, effect_scope, idempotency, reconciliation } = EFFECT_PROFILE_VALUES;
const profile = fc.record({
  kind: fc.constantFrom(...kind),
  destructive: fc.constantFrom(...destructive),
  effect_scope: fc.constantFrom(...effect_scope),
  idempotency: fc.constantFrom(...idempotency),
  reconciliation: fc.constantFrom(...reconciliation),
});
const schema = fc.record(
  {
    type: fc.constant('object'),
    properties: fc.dictionary(
      key,
      fc.constantFrom({}, true, { type: 'string' }, { enum: [1, null], title: 'é' }),
      { maxKeys: 4 },
    ),
    required: fc.uniqueArray(key, { maxLength: 3 }),
    $schema: fc.constantFrom(
      'https://json-schema.org/draft/2020-12/schema',
      'http://json-schema.org/draft-07/schema#',
    ),
  },
  { requiredKeys: ['type', 'properties'] },
);
const tool = fc
  .tuple(
    extra,
    fc.record({
      name: fc
        .stringMatching(/^[A-Za-z0-9_-]{1,20}$/)
        .filter((name) => isServedName(name) && reservedNamespace(name) === undefined),
      effect_profile: profile,
    }),
    fc.record(
      {
        timeout_ms: fc.integer({ min: 1, max: 3_600_000 }),
        description: nonBlank,
        input_schema: schema,
        module: fc.constantFrom(...MODULES),
      },
      optional,
    ),
  )
  .map((parts): Json => Object.assign({}, ...parts) as Json);
const document = fc
  .tuple(
    extra,
    fc.record({
      name: fc.stringMatching(/^[a-z0-9]{1,9}(-[a-z0-9]{1,9})?$/).filter(isDocumentName),
      description: nonBlank,
    }),
  )
  .map((parts): Json => Object.assign({}, ...parts) as Json);
const named = (entry: fc.Arbitrary<Json>, minLength = 0): fc.Arbitrary<Json[]> =>
  fc.uniqueArray(entry, { selector: ({ name }) => name, minLength, maxLength: 5 });
const announcement = (minLength = 0): fc.Arbitrary<Json> =>
  fc
    .tuple(
      fc.record({ tools: named(tool, minLength) }),
      fc.record(
        {
          environment: extra,
          documents: named(document, minLength),
          delivery: fc.constantFrom('claim', 'serve'),
          max_in_flight: fc.integer({ min: 1, max: 1024 }),
        },
        minLength === 0 ? optional : {},
      ),
      extra,
    )
    .map((parts): Json => Object.assign({}, ...parts) as Json);

const read = (text: string): ReturnType<typeof parseAnnouncement> =>
  parseAnnouncement(text, { modules: MODULES, toolPrefix: 'nexus.v1.tool.E.1' });

function refusalOf(text: string): Refusal {
  try {
    read(text);
  } catch (refusal) {
    if (refusal instanceof Refusal) return refusal;
    throw refusal;
  }
  throw new Error(`It was admitted: ${text}`);
}

/** A place in a valid announcement, and the same announcement with another value there. */
interface Place {
  readonly parent: Json | unknown[];
  readonly key: string;
  readonly path: string;
}

function places(value: unknown, path: string): Place[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.keys(value).flatMap((name) => {
    const at = Array.isArray(value) ? elementPath(path, Number(name)) : memberPath(path, name);
    const place = { parent: value as Json, key: name, path: at };
    return [place, ...places((value as Json)[name], at)];
  });
}

/** A valid announcement and a place in it that `admits`, to be changed: each call answers a copy of its own. */
const placed = (admits: (place: Place) => boolean): fc.Arbitrary<() => [Json, Place]> =>
  fc
    .tuple(announcement(2), fc.nat())
    .filter(([body]) => places(body, '').some(admits))
    .map(([body, at]) => () => {
      const copy = copyOf(body);
      const all = places(copy, '').filter(admits);
      return [copy, all[at % all.length] as Place];
    });

const copyOf = (body: Json): Json => JSON.parse(JSON.stringify(body)) as Json;

const put = (place: Place, value: unknown): void => {
  Object.defineProperty(place.parent, place.key, {
    value,
    enumerable: true,
    configurable: true,
    writable: true,
  });
};
const valueAt = ({ parent, key: name }: Place): unknown =>
  Object.getOwnPropertyDescriptor(parent, name)?.value;
/** The same key as JSON may spell it too: every unit an escape. */
const escapedKey = (name: string): string =>
  `"${[...Array(name.length).keys()].map((at) => `\\u${name.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')}"`;

const anywhere = (): boolean => true;

/** Those of an entry's members whose shape the grammar fixes. */
const RULED =
  /^(tools\[\d+\]\.(name|effect_profile|timeout_ms|description|input_schema|module)|documents\[\d+\]\.(name|description)|delivery|max_in_flight|environment|documents|tools)$/;
const REQUIRED =
  /^(tools\[\d+\]\.(name|effect_profile|effect_profile\.\w+)|documents\[\d+\]\.(name|description)|tools)$/;
const PROFILE = /^tools\[\d+\]\.effect_profile$/;

describe('Any valid announcement', () => {
  it('is admitted, and what is stored is what was sent, to the byte', () => {
    fc.assert(
      fc.property(announcement(), fc.nat(3), (body, indent) => {
        const text = JSON.stringify(body, null, indent);
        const admitted = read(text);
        const sent = memberTexts(text);
        expect(admitted.tools_text).toBe(sent.get('tools'));
        expect(admitted.environment_text).toBe(sent.get('environment') ?? '{}');
        expect(admitted.documents_text).toBe(sent.get('documents') ?? '[]');
        const entries = elementTexts(admitted.tools_text);
        expect(admitted.tools.map(({ entry_text }) => entry_text)).toEqual(entries);
        admitted.tools.forEach((read, index) => {
          const members = memberTexts(entries[index] ?? '');
          expect(read.input_schema_text).toBe(members.get('input_schema'));
          expect(read.name).toBe(JSON.parse(members.get('name') ?? ''));
          expect(read.effect_profile).toEqual(JSON.parse(members.get('effect_profile') ?? ''));
          expect(read.model_visible).toBe(members.has('description') && members.has('input_schema'));
        });
      }),
      { numRuns: 300 },
    );
  });
});

describe('Any valid announcement with one change is refused, with a path', () => {
  it('when a required key is dropped', () => {
    fc.assert(
      fc.property(
        placed(({ path }) => REQUIRED.test(path)),
        (change) => {
          const [body, place] = change();
          delete (place.parent as Json)[place.key];
          const { code, message } = refusalOf(JSON.stringify(body));
          expect(code).toBe(place.path === 'tools' ? 'parameter_missing' : 'invalid_announcement');
          expect(message.startsWith(place.path.replace(/\.effect_profile\.\w+$/, '.effect_profile'))).toBe(
            true,
          );
        },
      ),
    );
  });

  it('when an effect profile gets another key', () => {
    fc.assert(
      fc.property(
        placed(({ path }) => PROFILE.test(path)),
        key,
        fc.jsonValue(),
        (change, name, value) => {
          const [body, place] = change();
          fc.pre(
            !Object.hasOwn(valueAt(place) as Json, name) &&
              storable(JSON.stringify(value)) &&
              !JSON.stringify(value).includes('\\u0000'),
          );
          put({ ...place, parent: valueAt(place) as Json, key: name }, value);
          const { code, message } = refusalOf(JSON.stringify(body));
          expect(code).toBe('invalid_announcement');
          expect(message).toMatch(/^tools\[\d+\]\.effect_profile must carry exactly /);
        },
      ),
    );
  });

  it('when a value has a wrong type', () => {
    const wrong = fc.constantFrom<unknown[]>(null, false, -1, 1.5, '', ' ', [[]], [7]);
    fc.assert(
      fc.property(
        placed(({ path }) => RULED.test(path)),
        wrong,
        (change, value) => {
          const [body, place] = change();
          put(place, value);
          const { code, message } = refusalOf(JSON.stringify(body));
          expect(code).toBe('invalid_announcement');
          expect(message.startsWith(place.path)).toBe(true);
        },
      ),
    );
  });

  it('when a key stands twice, at any depth', () => {
    const inObject = placed(({ parent }) => !Array.isArray(parent));
    fc.assert(
      fc.property(inObject, fc.boolean(), (change, isEscaped) => {
        const [body, place] = change();
        const marker = 'MARK-93c1';
        const value = JSON.stringify(valueAt(place));
        put(place, marker);
        const again = isEscaped ? escapedKey(place.key) : JSON.stringify(place.key);
        const text = JSON.stringify(body).replace(`"${marker}"`, () => `${value},${again}:${value}`);
        const { code, message } = refusalOf(text);
        expect(code).toBe('invalid_json');
        expect(message).toBe(`${place.path} is a duplicate key`);
      }),
    );
  });

  it('when a NUL or a lone surrogate stands anywhere, in a value or a key', () => {
    const bad = fc.constantFrom('\\u0000', '\\ud83d', '\\uDE00', 'a\\\\\\u0000', '\\ude00\\ud83d');
    fc.assert(
      fc.property(placed(anywhere), bad, fc.boolean(), (change, escape, asKey) => {
        const [body, place] = change();
        const marker = 'MARK-93c1';
        put(place, asKey ? { [marker]: 1 } : marker);
        const text = JSON.stringify(body).replace(marker, () => escape);
        const { code, message } = refusalOf(text);
        expect(code).toBe('invalid_announcement');
        expect(message.startsWith(place.path.replace(/^(tools|documents)\b.*/s, '$1'))).toBe(true);
      }),
    );
  });

  it('when it nests deeper than 64, anywhere', () => {
    fc.assert(
      fc.property(placed(anywhere), fc.integer({ min: 64, max: 5_000 }), (change, depth) => {
        const [body, place] = change();
        const marker = 'MARK-93c1';
        put(place, marker);
        const text = JSON.stringify(body).replace(`"${marker}"`, () => '['.repeat(depth) + ']'.repeat(depth));
        expect(refusalOf(text)).toMatchObject({
          code: 'invalid_json',
          message: 'the body nests deeper than 64',
        });
      }),
    );
  });

  it('when a name is repeated', () => {
    fc.assert(
      fc.property(announcement(2), fc.constantFrom('tools', 'documents'), (valid, list) => {
        const body = copyOf(valid);
        const entries = body[list] as Json[];
        const [first] = entries;
        const last = entries.length - 1;
        (entries[last] as Json)['name'] = first?.['name'];
        const { code, message } = refusalOf(JSON.stringify(body));
        expect(code).toBe('invalid_announcement');
        expect(message).toBe(`${list}[${last}].name repeats ${String(first?.['name'])}`);
      }),
    );
  });
});

it('Any JSON at all is admitted or refused, and nothing else happens', () => {
  const fields = fc.record(
    {
      tools: fc.oneof(fc.jsonValue(), fc.array(fc.jsonValue())),
      environment: fc.jsonValue(),
      documents: fc.oneof(fc.jsonValue(), fc.array(fc.jsonValue())),
    },
    optional,
  );
  const text = fc.oneof(
    fc.json({ stringUnit: 'binary' }),
    fields.map((body) => JSON.stringify(body)),
    fc.string(),
  );
  fc.assert(
    fc.property(text, (sent) => {
      try {
        read(sent);
      } catch (refusal) {
        expect(refusal).toBeInstanceOf(Refusal);
        expect((refusal as Refusal).status).toBeLessThan(500);
      }
    }),
    { numRuns: 1_000 },
  );
});
