import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { writeInfo } from './info-document.js';
import type { EndpointDescription, ServiceDescription } from './service-description.js';

const MAX = 64 * 1024;

function endpoint(
  name: string,
  schemaBytes: number,
  metadata: Record<string, string> = {},
): EndpointDescription {
  const frame = JSON.stringify({ type: 'object', title: '' }).length;
  const input_schema = JSON.stringify({ type: 'object', title: 'x'.repeat(schemaBytes - frame) });
  const subject = `nexus.v1.tool.E.1.${name}`;
  return { name, subject, queue_group: 'q', metadata: { description: 'd', ...metadata, input_schema } };
}
const service = (endpoints: EndpointDescription[]): ServiceDescription => ({
  name: 'tools',
  id: 'E',
  version: '1.0.0',
  description: 'Tools of a builder – “é”',
  metadata: { machine: 'build-box' },
  endpoints,
});

interface Read extends ServiceDescription {
  readonly type: string;
}
const read = (endpoints: EndpointDescription[], max = MAX): Read & { bytes: number } => {
  const bytes = writeInfo(service(endpoints), max);
  return { ...(JSON.parse(bytes.toString()) as Read), bytes: bytes.length };
};
const inline = ({ endpoints }: Read): string[] =>
  endpoints.filter(({ metadata }) => 'input_schema' in metadata).map(({ name }) => name);

describe('INFO', () => {
  it('carries every schema inline while all of it stays under half of max_payload, to the byte', () => {
    const described = [endpoint('a', 5_000), endpoint('b', 400)];
    const whole = writeInfo(service(described), MAX).length;
    const least = 2 * whole + 1;
    const { type, bytes, ...rest } = read(described, least);
    expect({ type, bytes }).toEqual({ type: 'io.nats.micro.v1.info_response', bytes: whole });
    expect(rest).toEqual(service(described));
    expect(inline(read(described, least - 1))).toEqual(['b']);
  });

  it('replaces the largest schemas, and no more than it must, by digest and size', () => {
    const described = [
      endpoint('a', 9_000),
      endpoint('b', 11_000),
      endpoint('c', 10_000),
      endpoint('d', 12_000),
    ];
    const info = read(described);
    expect(inline(info)).toEqual(['a', 'b', 'c']);
    expect(info.bytes).toBeLessThan(MAX / 2);
    const { input_schema = '', ...rest } = described[3]?.metadata ?? {};
    expect(info.endpoints[3]?.metadata).toEqual({
      ...rest,
      input_schema_sha256: createHash('sha256').update(input_schema).digest('hex'),
      input_schema_bytes: '12000',
    });
  });

  it('arrives of 500 tools with a schema of 20 KiB each', () => {
    const described = Array.from({ length: 500 }, (_, index) => endpoint(`t${index}`, 20 * 1024));
    const info = read(described, 1024 * 1024);
    expect(info.endpoints).toHaveLength(500);
    expect(info.bytes).toBeLessThan(512 * 1024);
    expect(inline(info).length).toBeGreaterThan(10);
  });

  it('counts bytes, not characters', () => {
    const wide = 'é'.repeat(3_000);
    const info = read(
      Array.from({ length: 8 }, (_, index) => endpoint(`t${index}`, 200, { description: wide })),
    );
    expect(info.bytes).toBeGreaterThan(MAX / 2);
    expect(info.bytes).toBeLessThanOrEqual(MAX);
    expect(inline(info)).toEqual([]);
  });

  it('cuts the longest descriptions where it would not arrive otherwise, and no character in half', () => {
    const long = `${'x'.repeat(119)}😀${'y'.repeat(20_000)}`;
    const described = Array.from({ length: 6 }, (_, index) =>
      endpoint(`t${index}`, 200, { description: long }),
    );
    const info = read([...described, endpoint('short', 200)]);
    const descriptions = info.endpoints.map(({ metadata }) => metadata['description']);
    expect(descriptions.filter((text) => text === long)).toHaveLength(3);
    expect(descriptions.filter((text) => text === `${'x'.repeat(119)}…`)).toHaveLength(3);
    expect(descriptions.at(-1)).toBe('d');
    expect(info.bytes).toBeLessThanOrEqual(MAX);
  });

  it('gives up metadata, the heaviest first, before it leaves out an endpoint', () => {
    const profile = { effect_profile: 'p'.repeat(300) };
    const described = Array.from({ length: 250 }, (_, index) => endpoint(`t${index}`, 200, profile));
    const info = read(described);
    expect(info.endpoints).toHaveLength(250);
    expect(info.metadata).toEqual({ machine: 'build-box' });
    expect(info.endpoints.some(({ metadata }) => Object.keys(metadata).length === 0)).toBe(true);
    expect(info.endpoints.some(({ metadata }) => 'effect_profile' in metadata)).toBe(true);
    expect(info.bytes).toBeLessThanOrEqual(MAX);
  });

  it('says how many endpoints it leaves out when nothing else helps', () => {
    const info = read(Array.from({ length: 2_000 }, (_, index) => endpoint(`t${index}`, 200)));
    expect(Number(info.metadata['endpoints_left_out']) + info.endpoints.length).toBe(2_000);
    expect(info.endpoints.length).toBeGreaterThan(500);
    expect(info.bytes).toBeLessThanOrEqual(MAX);
  });
});
