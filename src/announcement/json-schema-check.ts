import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';

/** The drafts an input schema may be written in, by its `$schema`; 2020-12 when it is silent (chapter 2). */
const DRAFT_07 = /^https?:\/\/json-schema\.org\/draft-07\/schema#?$/;
const DRAFT_2020 = /^https?:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/;

const OPTIONS = { strict: false, validateFormats: false, logger: false, meta: true } as const;
const draft07 = new Ajv(OPTIONS);
const draft2020 = new Ajv2020(OPTIONS);

/**
 * Whether a value is a JSON Schema for objects: `type: "object"`, and valid against the meta-schema of its draft. Nothing
 * is compiled, resolved or fetched, and no pattern of it is run.
 */
export function isObjectSchema(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const { type, $schema = 'https://json-schema.org/draft/2020-12/schema' } = value as { type?: unknown; $schema?: unknown };
  if (type !== 'object' || typeof $schema !== 'string') return false;
  if (DRAFT_2020.test($schema)) return draft2020.validate('https://json-schema.org/draft/2020-12/schema', value);
  if (DRAFT_07.test($schema)) return draft07.validate('http://json-schema.org/draft-07/schema', value);
  return false;
}
