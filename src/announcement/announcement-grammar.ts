import type { ErrorCode } from '../errors/error-table.js';
import { refuse } from '../errors/refusal.js';
import type { EffectProfile } from '../kernel/effect-profile.js';
import type { Fault } from '../kernel/fault.js';
import { unstorablePath } from '../kernel/json/scan.js';
import { JsonFault, parseStrict, sourceOf } from '../kernel/json/strict-parse.js';
import { documentFaults } from './document-grammar.js';
import { toolFaults } from './tool-grammar.js';

/** One entry of an announcement, as admitted. */
export interface AnnouncedTool {
  readonly name: string;
  readonly effect_profile: EffectProfile;
  readonly timeout_ms?: number;
  readonly description?: string;
  readonly module?: string;
  /** The entry exactly as it was sent, unknown keys and all. */
  readonly entry_text: string;
}

/** An admitted announcement; the `…_text` members are what was sent, to the byte. */
export interface Announcement {
  readonly tools: readonly AnnouncedTool[];
  readonly tools_text: string;
  readonly environment_text: string;
  readonly documents_text: string;
  readonly delivery: 'claim' | 'serve';
  readonly max_in_flight: number;
}

/** A fault with the code it is refused with when it is the first. */
export interface CodedFault extends Fault {
  readonly code: ErrorCode;
}

const KIB = 1024;
/** Bounds of the lists, on their UTF-8 JSON (chapter 2). */
const BOUNDS = { tools: 768 * KIB, environment: 64 * KIB, documents: 64 * KIB } as const;
const DETAILS_MAX = 20;
const IN_FLIGHT = { least: 1, most: 1024, fallback: 16 } as const;

/**
 * Reads an announcement's text (chapter 2): a whole replacement, or a refusal. Order of checks: it parses
 * (`invalid_json`), it has `tools` (`parameter_missing`), its strings can be stored, its entries keep the grammar, in
 * document order; last, its lists keep their bounds (`validation_failed`). The first fault is the refusal, all of them (at
 * most 20) ride in `details`.
 */
export function parseAnnouncement(text: string, { modules }: { modules: readonly string[] }): Announcement {
  const body = parseBody(text);
  if (body['tools'] === undefined) throw refuse('parameter_missing', 'tools is required');
  const faults = [...unstorableFaults(body), ...Object.keys(body).flatMap((key) => memberFaults(key, body[key], modules))];
  refuseFirst(faults.length > 0 ? faults : boundFaults(body));
  const tools = body['tools'] as object[];
  return {
    tools: tools.map((entry) => ({ ...(entry as AnnouncedTool), entry_text: textOf(entry) })),
    tools_text: textOf(tools),
    environment_text: body['environment'] === undefined ? '{}' : textOf(body['environment'] as object),
    documents_text: body['documents'] === undefined ? '[]' : textOf(body['documents'] as object),
    delivery: (body['delivery'] ?? 'claim') as 'claim' | 'serve',
    max_in_flight: (body['max_in_flight'] ?? IN_FLIGHT.fallback) as number,
  };
}

function parseBody(text: string): Record<string, unknown> {
  try {
    const value = parseStrict(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
    throw refuse('invalid_json', 'the body must be a JSON object');
  } catch (fault) {
    if (!(fault instanceof JsonFault)) throw fault;
    throw refuse('invalid_json', fault.message, fault.path === '' ? undefined : [{ path: fault.path, message: fault.message }]);
  }
}

function memberFaults(key: string, value: unknown, modules: readonly string[]): CodedFault[] {
  switch (key) {
    case 'tools':
      return Array.isArray(value) ? toolFaults(value, modules) : [invalid(key, 'must be a list of entries')];
    case 'environment':
      return isObject(value) ? [] : [invalid(key, 'must be an object')];
    case 'documents':
      return Array.isArray(value) ? documentFaults(value) : [invalid(key, 'must be a list of entries')];
    case 'delivery':
      return value === 'claim' || value === 'serve' ? [] : [invalid(key, 'must be one of claim, serve')];
    case 'max_in_flight':
      return isInFlight(value) ? [] : [invalid(key, `must be an integer from ${IN_FLIGHT.least} to ${IN_FLIGHT.most}`)];
    default:
      return [];
  }
}

/** What can't be stored is found wherever it stands, also in what is not interpreted. */
function unstorableFaults(body: Record<string, unknown>): CodedFault[] {
  const path = unstorablePath(body);
  return path === undefined ? [] : [invalid(path === '' ? 'the body' : path, 'holds a NUL or a lone surrogate')];
}

function boundFaults(body: Record<string, unknown>): CodedFault[] {
  return Object.entries(BOUNDS).flatMap(([list, bound]) => {
    const value = body[list];
    const bytes = value === undefined ? 0 : Buffer.byteLength(textOf(value as object));
    if (bytes <= bound) return [];
    const message = `${list} is ${bytes} bytes of JSON, at most ${bound} are allowed`;
    return [{ code: 'validation_failed' as const, path: list, message }];
  });
}

function refuseFirst(faults: readonly CodedFault[]): void {
  const [first] = faults;
  if (!first) return;
  const details = faults.slice(0, DETAILS_MAX).map(({ path, message }) => ({ path, message }));
  throw refuse(first.code, first.message, details);
}

const invalid = (path: string, rest: string): CodedFault => ({
  code: 'invalid_announcement',
  path,
  message: `${path} ${rest}`,
});

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);

const isInFlight = (value: unknown): boolean =>
  typeof value === 'number' && Number.isInteger(value) && value >= IN_FLIGHT.least && value <= IN_FLIGHT.most;

function textOf(value: object): string {
  const text = sourceOf(value);
  if (text === undefined) throw new Error('The value was not read by parseStrict');
  return text;
}
