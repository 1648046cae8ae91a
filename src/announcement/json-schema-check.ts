import { Ajv, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { type Fault, fault } from '../kernel/fault.js';
import { elementPath, memberPath } from '../kernel/json/path.js';
import { isObject } from '../kernel/json/is-object.js';

/** A draft that an input schema may be written in, with the check of its meta-schema. */
interface Draft {
  readonly name: string;
  /** How `$schema` names it. */
  readonly uri: RegExp;
  readonly isSchema: ValidateFunction;
}

const DRAFT_2020_12: Draft = {
  name: '2020-12',
  uri: /^https?:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/,
  isSchema: metaSchemaOf(Ajv2020, 'https://json-schema.org/draft/2020-12/schema'),
};
const DRAFT_07: Draft = {
  name: 'draft-07',
  uri: /^https?:\/\/json-schema\.org\/draft-07\/schema#?$/,
  isSchema: metaSchemaOf(Ajv, 'http://json-schema.org/draft-07/schema'),
};

/**
 * What is wrong with an entry's `input_schema` (chapter 2): a JSON Schema with `type: "object"`, of draft 2020-12 or
 * draft-07 by its `$schema`, 2020-12 when that is silent; at most one fault. The schema is only data to its draft's
 * meta-schema: nothing of it is compiled, resolved, fetched or run, and the time is linear in its size.
 */
export function inputSchemaFaults(value: unknown, path: string): Fault[] {
  if (!isObject(value)) return [fault(path, 'must be a JSON Schema object')];
  if (value['type'] !== 'object') return [fault(path, 'must be a JSON Schema object with type "object"')];
  const draft = draftOf(value);
  if (!draft) return [fault(`${path}.$schema`, 'must name JSON Schema draft 2020-12 or draft-07')];
  const { isSchema, name } = draft;
  if (isSchema(value)) return [];
  const [first] = isSchema.errors ?? [];
  return [fault(pathOf(first?.instancePath ?? '', value, path), `${first?.message} (JSON Schema ${name})`)];
}

function draftOf(schema: Record<string, unknown>): Draft | undefined {
  if (!Object.hasOwn(schema, '$schema')) return DRAFT_2020_12;
  const { $schema } = schema;
  if (typeof $schema !== 'string') return undefined;
  return [DRAFT_2020_12, DRAFT_07].find(({ uri }) => uri.test($schema));
}

/**
 * The check of a meta-schema. ajv's own `uniqueItems` compares every pair where a list's items are not declared in place,
 * as for `type`: a list of 100,000 would hold the process for minutes. In both meta-schemas the items are strings.
 */
function metaSchemaOf(Library: typeof Ajv | typeof Ajv2020, id: string): ValidateFunction {
  const ajv = new Library({ strict: false, validateFormats: false, logger: false });
  ajv.removeKeyword('uniqueItems').addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    errors: false,
    validate: (unique: boolean, items: unknown[]) => !unique || new Set(items).size === items.length,
  });
  const isSchema = ajv.getSchema(id);
  if (!isSchema) throw new Error(`The library has no meta-schema ${id}`);
  return isSchema as ValidateFunction;
}

/** The path of a JSON pointer into `schema`, which stands at `root`. */
function pathOf(pointer: string, schema: unknown, root: string): string {
  let value = schema;
  let path = root;
  for (const step of pointer.split('/').slice(1)) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~');
    path = Array.isArray(value) ? elementPath(path, Number(key)) : memberPath(path, key);
    value = (value as Record<string, unknown>)[key];
  }
  return path;
}
