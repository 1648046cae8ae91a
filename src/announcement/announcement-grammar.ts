import { refuse } from '../errors/refusal.js';
import { isUnstorable } from '../kernel/json/scan.js';
import { JsonFault, parseStrict, sourceOf } from '../kernel/json/strict-parse.js';
import { AnnouncementFaults } from './announcement-faults.js';
import { type Body, checkMember, type Delivery } from './announcement-members.js';
import type { AnnouncedDocument } from './served-documents.js';
import { type AnnouncedTool, announcedTool } from './served-tools.js';
import { type AnnouncingExecutor, isServiceInfo, readServiceInfo } from './service-info.js';
import { isObject } from '../kernel/json/is-object.js';

export type { AnnouncedTool } from './served-tools.js';

/** An admitted announcement. Its `…_text` members are what was sent, to the byte. */
export interface Announcement {
  readonly tools: readonly AnnouncedTool[];
  readonly tools_text: string;
  /** `{}` where it is absent: a replacement clears. */
  readonly environment_text: string;
  readonly documents: readonly AnnouncedDocument[];
  /** `[]` where it is absent. */
  readonly documents_text: string;
  readonly delivery: Delivery;
  /** How many calls `serve` delivers at once. */
  readonly max_in_flight: number;
  /** The id that the executor goes by on the bus, where its own INFO document was the announcement. */
  readonly instance_id: string | null;
}

/** Bytes that each list may have, of its JSON as it was sent. */
const BOUNDS = { tools: 768 * 1024, environment: 64 * 1024, documents: 64 * 1024 } as const;
const DEFAULT_DELIVERY: Delivery = 'claim';
const DEFAULT_MAX_IN_FLIGHT = 16;

/**
 * Reads an announcement (chapter 2) from its JSON text, one order-preserving parse. An INFO document of the services
 * protocol is read as the announcement that it amounts to (chapter 8). Checked in this order: it reads alike for everybody
 * (`invalid_json`), it has `tools` (`parameter_missing`), its grammar in document order, what is absent from an object
 * counting where the object ends (`invalid_announcement`, `reserved_namespace`), and last its bounds (`validation_failed`).
 * The first fault makes code and message; up to 20 ride in `details`. Measured: 500 tools, 500 KB: 30 ms warm, 90 ms the first time.
 */
export function parseAnnouncement(text: string, executor: AnnouncingExecutor): Announcement {
  const body = readBody(text);
  if (isServiceInfo(body)) return serviceAnnouncement(body, executor);
  if (!Object.hasOwn(body, 'tools')) throw refuse('parameter_missing', 'tools is required');
  const faults = new AnnouncementFaults(isUnstorable(text));
  for (const [key, value] of Object.entries(body)) checkMember(key, value, executor.modules, faults);
  faults.refuseAny();
  const announcement = announcementOf(body, null);
  checkBounds(announcement, faults);
  faults.refuseAny();
  return announcement;
}

/** What a service says is admitted as if its executor had announced it. */
function serviceAnnouncement(body: Body, executor: AnnouncingExecutor): Announcement {
  // metadata holds JSON as text, whose escapes do not show in the body's
  const faults = new AnnouncementFaults(true);
  const { text, instanceId } = readServiceInfo(body, executor, faults);
  faults.refuseAny();
  const announcement = announcementOf(parseStrict(text) as Body, instanceId);
  const shown = faults.shownAs((list) => (list === 'tools' ? 'endpoints' : `metadata.${list}`));
  checkBounds(announcement, shown);
  shown.refuseAny();
  return announcement;
}

function readBody(text: string): Body {
  try {
    const body = parseStrict(text);
    if (isObject(body)) return body;
  } catch (fault) {
    if (!(fault instanceof JsonFault)) throw fault;
    const { path, message } = fault;
    throw refuse('invalid_json', message, path === '' ? undefined : [{ path, message }]);
  }
  throw refuse('invalid_json', 'the body must be a JSON object');
}

function announcementOf(body: Body, instanceId: string | null): Announcement {
  const { tools, environment, documents = [], delivery, max_in_flight } = body;
  return {
    tools: (tools as Record<string, unknown>[]).map(announcedTool),
    tools_text: textOf(tools) ?? '[]',
    environment_text: textOf(environment) ?? '{}',
    documents: (documents as AnnouncedDocument[]).map(({ name, description }) => ({ name, description })),
    documents_text: textOf(documents) ?? '[]',
    delivery: (delivery as Delivery | undefined) ?? DEFAULT_DELIVERY,
    max_in_flight: (max_in_flight as number | undefined) ?? DEFAULT_MAX_IN_FLIGHT,
    instance_id: instanceId,
  };
}

function checkBounds(announcement: Announcement, faults: AnnouncementFaults): void {
  for (const list of Object.keys(BOUNDS) as (keyof typeof BOUNDS)[]) {
    const bytes = Buffer.byteLength(announcement[`${list}_text`]);
    if (bytes <= BOUNDS[list]) continue;
    faults.add(list, `has ${bytes} bytes as JSON; its bound is ${BOUNDS[list]}`, 'validation_failed');
  }
}

const textOf = (value: unknown): string | undefined => sourceOf(Object(value) as object);
