import { WORST_EFFECT_PROFILE } from '../kernel/effect-profile.js';
import { isObject } from '../kernel/json/is-object.js';
import { JsonFault, parseStrict } from '../kernel/json/strict-parse.js';
import { isServedName, SERVED_NAME } from '../kernel/names.js';
import { ANSWER_TYPES } from '../services-protocol/service-description.js';
import type { AnnouncementFaults } from './announcement-faults.js';
import { type Body, checkMember } from './announcement-members.js';
import { checkServedTool } from './served-tools.js';

/** Of whom an announcement is read. */
export interface AnnouncingExecutor {
  readonly modules: readonly string[];
  /** The subject of a tool of its, without the last token. */
  readonly toolPrefix: string;
}

/** Whether a body is the INFO document of a micro service. */
export const isServiceInfo = (body: Body): boolean => body['type'] === ANSWER_TYPES.INFO;

/**
 * Reads an INFO document as the announcement that it amounts to (chapter 8), with delivery `serve`: an endpoint is a tool,
 * its name the last token of its subject under the executor's tool prefix; what else an entry says is in the endpoint's
 * metadata, and `environment` and `documents` in the service's, as JSON texts. Notes what is wrong with it by the same
 * grammar, under the document's own paths; `text` is an announcement where there was nothing to note.
 */
export function readServiceInfo(
  body: Body,
  executor: AnnouncingExecutor,
  faults: AnnouncementFaults,
): { readonly text: string; readonly instanceId: string } {
  const { name, id, metadata = null } = body;
  const entries = new EndpointEntries(executor, name, faults);
  const members = ['"delivery":"serve"'];
  for (const [key, value] of Object.entries(body)) {
    if (key === 'id') checkId(value, faults);
    if (key === 'metadata') members.push(...membersOf(metadata, faults));
    if (key === 'endpoints') members.push(`"tools":[${entries.read(value).join(',')}]`);
  }
  if (!Object.hasOwn(body, 'id')) checkId(undefined, faults);
  if (!Object.hasOwn(body, 'endpoints')) entries.read(undefined);
  return { text: `{${members.join(',')}}`, instanceId: id as string };
}

/** The id is a token of the subjects that the instance is asked on. */
function checkId(id: unknown, faults: AnnouncementFaults): void {
  if (!isServedName(id)) faults.add('id', `must match ${SERVED_NAME.source}`);
}

/** `environment` and `documents`, as members of an announcement. */
function membersOf(metadata: unknown, faults: AnnouncementFaults): string[] {
  const members: string[] = [];
  for (const [key, text] of textsOf(metadata, 'metadata', ['environment', 'documents'], faults)) {
    const member = `${JSON.stringify(key)}:${text}`;
    if (parsed(text, `metadata.${key}`, faults) === undefined) continue;
    const value = parsed(`{${member}}`, `metadata.${key}`, faults) as Body | undefined;
    if (!value) continue;
    const shown = faults.shownAs((path) => `metadata.${path}`);
    checkMember(key, value[key], [], shown);
    members.push(member);
  }
  return members;
}

/** The endpoints of a document, as entries of `tools`. */
class EndpointEntries {
  private readonly names = new Set<string>();
  private readonly module: string | undefined;

  /** A service that is named for a module of its executor serves that one. */
  constructor(
    private readonly executor: AnnouncingExecutor,
    serviceName: unknown,
    private readonly faults: AnnouncementFaults,
  ) {
    this.module = executor.modules.find((module) => module === serviceName);
  }

  read(endpoints: unknown): string[] {
    if (!Array.isArray(endpoints)) this.faults.add('endpoints', 'must be a list of entries');
    const entries: string[] = [];
    for (const [index, endpoint] of (Array.isArray(endpoints) ? endpoints : []).entries()) {
      if (this.faults.isFull) break;
      const entry = this.entryOf(endpoint, `endpoints[${index}]`);
      if (entry !== undefined) entries.push(entry);
    }
    return entries;
  }

  private entryOf(endpoint: unknown, path: string): string | undefined {
    const { faults, executor } = this;
    if (!isObject(endpoint)) return void faults.add(path, 'must be an object');
    const name = this.nameOf(endpoint['subject'], `${path}.subject`);
    const members = this.membersOf(endpoint['metadata'] ?? null, `${path}.metadata`);
    if (name === undefined) return undefined;
    const entry = `{${[`"name":${JSON.stringify(name)}`, ...members].join(',')}}`;
    const value = parsed(`{"tools":[${entry}]}`, `${path}.metadata`, faults) as
      { tools: unknown[] } | undefined;
    if (!value) return undefined;
    const at = `${path}.metadata`;
    const shown = faults.shownAs((field) => (field === `${at}.name` ? `${path}.subject` : field));
    checkServedTool(value.tools[0], at, executor.modules, this.names, shown);
    return entry;
  }

  /** The last token of a subject that is one token under the tool prefix. */
  private nameOf(subject: unknown, path: string): string | undefined {
    const prefix = `${this.executor.toolPrefix}.`;
    const name =
      typeof subject === 'string' && subject.startsWith(prefix) ? subject.slice(prefix.length) : '';
    if (name !== '' && !name.includes('.')) return name;
    this.faults.add(path, `must be one token under ${this.executor.toolPrefix}`);
    return undefined;
  }

  private membersOf(metadata: unknown, path: string): string[] {
    const members: string[] = [];
    let profiled = false;
    for (const [key, text] of textsOf(metadata, path, Object.keys(MEMBER_TEXTS), this.faults)) {
      const written = MEMBER_TEXTS[key as keyof typeof MEMBER_TEXTS](text);
      profiled ||= key === 'effect_profile';
      if (parsed(written, `${path}.${key}`, this.faults) === undefined) continue;
      members.push(`${JSON.stringify(key)}:${written}`);
    }
    if (!profiled) members.push(`"effect_profile":${JSON.stringify(WORST_EFFECT_PROFILE)}`);
    if (this.module !== undefined) members.push(`"module":${JSON.stringify(this.module)}`);
    return members;
  }
}

/** A member of an entry as JSON text, by what the metadata says of it. */
const MEMBER_TEXTS = {
  description: (text: string) => JSON.stringify(text),
  effect_profile: (text: string) => text,
  input_schema: (text: string) => text,
  timeout_ms: (text: string) => (/^(0|[1-9]\d*)$/.test(text) ? text : JSON.stringify(text)),
} as const;

/** The metadata that is known, in the order of the document. */
function textsOf(
  metadata: unknown,
  path: string,
  keys: readonly string[],
  faults: AnnouncementFaults,
): [key: string, text: string][] {
  if (metadata !== null && !isObject(metadata)) faults.add(path, 'must be an object');
  const texts: [string, string][] = [];
  for (const [key, value] of Object.entries(isObject(metadata) ? metadata : {})) {
    if (!keys.includes(key)) continue;
    if (typeof value === 'string') texts.push([key, value]);
    else faults.add(`${path}.${key}`, 'must be a string');
  }
  return texts;
}

/** Parses a JSON text of the document, as `parseStrict` does; notes why it cannot. */
function parsed(text: string, path: string, faults: AnnouncementFaults): unknown {
  try {
    return parseStrict(text);
  } catch (fault) {
    if (!(fault instanceof JsonFault)) throw fault;
    const what = {
      syntax: 'is not JSON',
      duplicate_key: `has a duplicate key: ${fault.path}`,
      depth: 'nests deeper than 64',
    };
    faults.add(path, what[fault.kind]);
    return undefined;
  }
}
