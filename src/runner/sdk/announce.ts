import { RefusedError } from './refused-error.js';
import type { AnnouncementBody, Fault } from './wire.js';

/** `throw`: a refused announcement is the caller's to mend. `drop`: what is refused is left out, the rest announced. */
export type OnInvalid = 'throw' | 'drop';

/** An entry left out of an announcement, and why. */
export interface LeftOut {
  readonly list: 'tools' | 'documents';
  readonly name: string;
  readonly faults: readonly string[];
}

/**
 * Announces `body` through `send`. With `drop`, entries that the refusal's `details` name are left out and the rest is
 * sent again, until it is taken: a refusal names at most 20 faults. Throws the refusal when it names no entry.
 */
export async function announce(
  body: AnnouncementBody,
  onInvalid: OnInvalid,
  send: (body: AnnouncementBody) => Promise<unknown>,
): Promise<{ announced: AnnouncementBody; leftOut: LeftOut[] }> {
  const leftOut: LeftOut[] = [];
  for (let announced = body; ;) {
    try {
      await send(announced);
      return { announced, leftOut };
    } catch (fault) {
      const named = onInvalid === 'drop' ? namedEntries(fault, announced) : [];
      if (named.length === 0) throw fault;
      for (const { list, index, messages } of named) {
        leftOut.push({ list, name: nameOf(announced[list]?.[index]), faults: messages });
      }
      const rest = <Entry>(list: LeftOut['list'], entries: readonly Entry[]): Entry[] =>
        entries.filter((_, index) => !named.some((entry) => entry.list === list && entry.index === index));
      announced = {
        ...announced,
        tools: rest('tools', announced.tools),
        ...(announced.documents && { documents: rest('documents', announced.documents) }),
      };
    }
  }
}

const CODES = ['invalid_announcement', 'reserved_namespace', 'validation_failed'];

interface NamedEntry {
  readonly list: LeftOut['list'];
  readonly index: number;
  readonly messages: string[];
}

/** The entries of `sent` that a refusal names; empty where it names anything else too. */
function namedEntries(fault: unknown, sent: AnnouncementBody): NamedEntry[] {
  if (!(fault instanceof RefusedError) || !CODES.includes(fault.code) || !Array.isArray(fault.details))
    return [];
  const entries = new Map<string, NamedEntry>();
  for (const { path, message } of fault.details as Fault[]) {
    const match = /^(tools|documents)\[(\d+)\]/.exec(path);
    const list = match?.[1] as LeftOut['list'];
    const index = Number(match?.[2]);
    if (!match || index >= (sent[list]?.length ?? 0)) return [];
    const entry = entries.get(match[0]) ?? { list, index, messages: [] };
    entry.messages.push(message);
    entries.set(match[0], entry);
  }
  return [...entries.values()];
}

function nameOf(entry: unknown): string {
  const name = (entry as { name?: unknown } | undefined)?.name;
  return typeof name === 'string' ? name : '(without a name)';
}
