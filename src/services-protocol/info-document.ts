import { createHash } from 'node:crypto';
import { ANSWER_TYPES, type EndpointDescription, type ServiceDescription } from './service-description.js';

/** Characters of a description that is cut. */
const CUT_DESCRIPTION = 120;

/** Makes an endpoint's entry lighter; the same object where it cannot. */
type Lighter = (endpoint: EndpointDescription) => EndpointDescription;

/**
 * Writes an INFO answer that a server with this `max_payload` delivers (chapter 8). While all of it stays under half of
 * that, schemas ride inline; beyond, the largest are replaced by digest and size. Where even that is more than
 * `max_payload`, the longest descriptions are cut, then the heaviest endpoints lose their metadata, and at last endpoints
 * are left out from the end, whose number then stands in the service's metadata as `endpoints_left_out`.
 */
export function writeInfo(service: ServiceDescription, maxPayload: number): Buffer {
  const { endpoints, ...identity } = service;
  const entries = endpoints.map((endpoint) => new Entry(endpoint));
  const frame = (leftOut: number): number => Buffer.byteLength(documentText(identity, [], leftOut));
  const commas = Math.max(0, entries.length - 1);
  let bytes = frame(0) + commas + entries.reduce((sum, entry) => sum + entry.bytes, 0);
  const lighten = (lighter: Lighter, budget: number): void => {
    if (bytes <= budget) return;
    const gains = entries.map((entry) => ({ entry, to: entry.lightened(lighter) }));
    gains.sort((one, other) => other.entry.bytes - other.to.bytes - (one.entry.bytes - one.to.bytes));
    for (const { entry, to } of gains) {
      if (bytes <= budget || to.bytes >= entry.bytes) return;
      bytes -= entry.bytes - to.bytes;
      entry.become(to);
    }
  };
  lighten(withoutSchema, Math.ceil(maxPayload / 2) - 1);
  lighten(withCutDescription, maxPayload);
  lighten(withoutMetadata, maxPayload);
  let leftOut = 0;
  // as long as the number can become
  if (bytes > maxPayload) bytes += frame(entries.length) - frame(0);
  while (bytes > maxPayload && entries.length > 0) {
    bytes -= (entries.pop() as Entry).bytes + 1;
    leftOut += 1;
  }
  const texts = entries.map(({ text }) => text);
  return Buffer.from(documentText(identity, texts, leftOut));
}

/** An endpoint's entry as JSON text. */
class Entry {
  text: string;
  bytes: number;

  constructor(private endpoint: EndpointDescription) {
    this.text = JSON.stringify(endpoint);
    this.bytes = Buffer.byteLength(this.text);
  }

  lightened(lighter: Lighter): Entry {
    const lighterOne = lighter(this.endpoint);
    return lighterOne === this.endpoint ? this : new Entry(lighterOne);
  }

  become(other: Entry): void {
    Object.assign(this, other);
  }
}

function documentText(
  { name, id, version, metadata, description }: Omit<ServiceDescription, 'endpoints'>,
  entries: readonly string[],
  leftOut: number,
): string {
  const told = leftOut === 0 ? metadata : { ...metadata, endpoints_left_out: String(leftOut) };
  const head = { type: ANSWER_TYPES.INFO, name, id, version, metadata: told, description };
  return `${JSON.stringify(head).slice(0, -1)},"endpoints":[${entries.join(',')}]}`;
}

const withoutSchema: Lighter = (endpoint) => {
  const { input_schema: schema, ...metadata } = endpoint.metadata;
  if (schema === undefined) return endpoint;
  const input_schema_sha256 = createHash('sha256').update(schema).digest('hex');
  const input_schema_bytes = String(Buffer.byteLength(schema));
  return { ...endpoint, metadata: { ...metadata, input_schema_sha256, input_schema_bytes } };
};

const withCutDescription: Lighter = (endpoint) => {
  const { description } = endpoint.metadata;
  if (description === undefined || description.length <= CUT_DESCRIPTION) return endpoint;
  // no half of a character
  const cut = `${description.slice(0, CUT_DESCRIPTION).replace(/[\uD800-\uDBFF]$/, '')}…`;
  return { ...endpoint, metadata: { ...endpoint.metadata, description: cut } };
};

const withoutMetadata: Lighter = (endpoint) => ({ ...endpoint, metadata: {} });
