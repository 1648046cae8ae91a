import type { Msg } from 'nats';
import { isObject } from '../kernel/json/is-object.js';

/** One answer to `$SRV.INFO` (NATS ADR-32), as far as the mesh reads it. Everything in it was said by whoever answered. */
export interface InfoAnswer {
  readonly name: string;
  readonly id: string;
  readonly version: string;
  /** The metadata's machine, where it is a machine's name. */
  readonly machine: string | null;
  readonly endpoints: readonly InfoEndpoint[];
}

export interface InfoEndpoint {
  readonly name: string;
  readonly subject: string;
  readonly queue_group: string;
  readonly description: string;
}

/** What is read of a message. */
type Answer = Pick<Msg, 'data' | 'headers'>;

const TYPE = 'io.nats.micro.v1.info_response';
/** Names and ids are tokens of a subject: what is none could not be asked for directly. */
const TOKEN = /^[A-Za-z0-9_-]{1,128}$/;
const MACHINE = /^[A-Za-z0-9_-]{1,64}$/;
const VERSION_MAX = 64;
const SUBJECT_MAX = 1_024;
const ENDPOINTS_MAX = 10_000;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads an answer; undefined where it is malformed: no JSON, an error header, another type, a name that is none. Unknown
 * members are ignored, and metadata may be absent or null, as other libraries send it.
 */
export function readInfo({ data, headers }: Answer): InfoAnswer | undefined {
  if (headers?.has('Nats-Service-Error')) return undefined;
  const value = parsed(data);
  if (!isObject(value) || value['type'] !== TYPE) return undefined;
  const { name, id, version, metadata, endpoints = [] } = value;
  if (!isToken(name) || !isToken(id) || !isText(version, VERSION_MAX)) return undefined;
  if (!isAbsent(metadata) && !isObject(metadata)) return undefined;
  const listed = endpoints === null ? [] : endpoints;
  if (!Array.isArray(listed) || listed.length > ENDPOINTS_MAX) return undefined;
  const read = listed.flatMap((endpoint: unknown) => readEndpoint(endpoint) ?? []);
  if (read.length < listed.length) return undefined;
  const machine = isObject(metadata) ? metadata['machine'] : null;
  const isMachine = typeof machine === 'string' && MACHINE.test(machine);
  return { name, id, version, machine: isMachine ? machine : null, endpoints: read };
}

function readEndpoint(value: unknown): InfoEndpoint | undefined {
  if (!isObject(value)) return undefined;
  const { name, subject, queue_group = '', metadata } = value;
  if (!isToken(name) || !isText(subject, SUBJECT_MAX) || !isText(queue_group, SUBJECT_MAX)) return undefined;
  if (!isAbsent(metadata) && !isObject(metadata)) return undefined;
  const description = isObject(metadata) ? metadata['description'] : '';
  return { name, subject, queue_group, description: typeof description === 'string' ? description : '' };
}

function parsed(data: Uint8Array): unknown {
  try {
    return JSON.parse(utf8.decode(data)) as unknown;
  } catch {
    return undefined;
  }
}

const isToken = (value: unknown): value is string => typeof value === 'string' && TOKEN.test(value);
const isText = (value: unknown, most: number): value is string =>
  typeof value === 'string' && value.length <= most;
const isAbsent = (value: unknown): boolean => value === undefined || value === null;
