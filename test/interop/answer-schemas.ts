import { Ajv, type ValidateFunction } from 'ajv';

type Verb = 'PING' | 'INFO' | 'STATS';

const name = { type: 'string', pattern: '^[A-Za-z0-9_-]+$' };
const text = { type: 'string', minLength: 1 };
const count = { type: 'integer', minimum: 0 };
const metadata = { type: 'object', additionalProperties: { type: 'string' } };
const identity = {
  name,
  id: text,
  version: { type: 'string', pattern: '^(0|[1-9]\\d*)\\.(0|[1-9]\\d*)\\.(0|[1-9]\\d*)$' },
  metadata,
};

/** Exactly these members, all of them. */
const exactly = (properties: Record<string, object>): object => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});
const typed = (verb: Verb): object => ({ const: `io.nats.micro.v1.${verb.toLowerCase()}_response` });
const endpoint = { name, subject: text, queue_group: text };

/** What ADR-32 and the strictest of its readers ask of an answer together: members that some of them miss, none unknown. */
const SCHEMAS: Readonly<Record<Verb, object>> = {
  PING: exactly({ type: typed('PING'), ...identity }),
  INFO: exactly({
    type: typed('INFO'),
    ...identity,
    description: { type: 'string' },
    endpoints: { type: 'array', items: exactly({ ...endpoint, metadata }) },
  }),
  STATS: exactly({
    type: typed('STATS'),
    ...identity,
    started: { type: 'string', pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$' },
    endpoints: {
      type: 'array',
      items: exactly({
        ...endpoint,
        num_requests: count,
        num_errors: count,
        last_error: { type: 'string' },
        processing_time: count,
        average_processing_time: count,
        data: { type: 'object' },
      }),
    },
  }),
};

const ajv = new Ajv({ allErrors: true });
const checks: Readonly<Record<Verb, ValidateFunction>> = {
  PING: ajv.compile(SCHEMAS.PING),
  INFO: ajv.compile(SCHEMAS.INFO),
  STATS: ajv.compile(SCHEMAS.STATS),
};

/** What is wrong with an answer; empty for a good one. */
export function answerFaults(verb: Verb, answer: unknown): string[] {
  const isGood = checks[verb](answer);
  return isGood
    ? []
    : (checks[verb].errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}
