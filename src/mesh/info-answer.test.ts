import { describe, expect, it } from '@jest/globals';
import { headers } from 'nats';
import { readInfo } from './info-answer.js';

const INFO = {
  type: 'io.nats.micro.v1.info_response',
  name: 'tools',
  id: '01990000-0000-7000-8000-000000000001',
  version: '1.0.0',
  metadata: { machine: 'build-box' },
  endpoints: [
    {
      name: 'ls',
      subject: 't.e.1.ls',
      queue_group: 'q',
      metadata: { description: 'Lists', input_schema: '{}' },
    },
  ],
};

const read = (value: unknown, head?: ReturnType<typeof headers>) =>
  readInfo({
    data:
      value instanceof Uint8Array
        ? value
        : Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)),
    ...(head ? { headers: head } : {}),
  });

describe('An answer to $SRV.INFO', () => {
  it('is read as far as the mesh needs it', () => {
    expect(read(INFO)).toEqual({
      name: 'tools',
      id: INFO.id,
      version: '1.0.0',
      machine: 'build-box',
      endpoints: [{ name: 'ls', subject: 't.e.1.ls', queue_group: 'q', description: 'Lists' }],
    });
  });

  it('may leave out what other libraries leave out, and hold what nobody knows', () => {
    const { endpoints: _endpoints, ...bare } = INFO;
    expect(read({ ...bare, metadata: null })).toMatchObject({ machine: null, endpoints: [] });
    expect(read({ ...bare, endpoints: null, extra: [1] })).toMatchObject({ endpoints: [] });
    expect(read({ ...bare, endpoints: [{ name: 'x', subject: 's', metadata: null }] })?.endpoints).toEqual([
      { name: 'x', subject: 's', queue_group: '', description: '' },
    ]);
    expect(read({ ...bare, metadata: { machine: 'a.b' } })).toMatchObject({ machine: null });
    expect(read({ ...bare, metadata: { machine: 7 } })).toMatchObject({ machine: null });
  });

  it.each([
    ['nothing', ''],
    ['no JSON', '{'],
    ['no object', '[]'],
    ['null', 'null'],
    ['deep nesting', '['.repeat(100_000)],
    ['another type', { ...INFO, type: 'io.nats.micro.v1.ping_response' }],
    ['a name that is no token', { ...INFO, name: 'a.b' }],
    ['an id that is no token', { ...INFO, id: '>' }],
    ['an id of another type', { ...INFO, id: 7 }],
    ['a version of another type', { ...INFO, version: null }],
    ['a version without end', { ...INFO, version: '1'.repeat(65) }],
    ['metadata that is a list', { ...INFO, metadata: [] }],
    ['endpoints that are no list', { ...INFO, endpoints: {} }],
    ['an endpoint that is none', { ...INFO, endpoints: [7] }],
    ['an endpoint without a subject', { ...INFO, endpoints: [{ name: 'x' }] }],
    ['endpoints without end', { ...INFO, endpoints: Array(10_001).fill(INFO.endpoints[0]) }],
  ])('is malformed with %s', (_, value) => {
    expect(read(value)).toBeUndefined();
  });

  it('is malformed with bytes that are not UTF-8, and with an error header', () => {
    expect(read(Buffer.from([0xff, 0xfe]))).toBeUndefined();
    const head = headers();
    head.set('Nats-Service-Error', 'MAX_PAYLOAD_EXCEEDED');
    expect(read(INFO, head)).toBeUndefined();
  });
});
