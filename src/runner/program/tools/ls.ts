import type { Dirent } from 'node:fs';
import { opendir } from 'node:fs/promises';
import type { ServedTool } from '../../sdk/tool.js';
import { LOOKS } from '../effect-profiles.js';
import { Input } from '../input.js';
import type { OpenFolder, RootFolder } from '../root-folder.js';
import { counted, shownName } from '../text.js';

const MOST_ENTRIES = 1_000;
/** Names take at most so much, as JSON: the answer shows them twice. */
const MOST_NAME_BYTES = 128 * 1024;
/** Beyond this a folder is not even read to its end. */
const MOST_READ = 100_000;

/** `ls`: what lies in a folder. */
export const lsTool = (root: RootFolder): ServedTool => ({
  name: 'ls',
  effect_profile: LOOKS,
  timeout_ms: 30_000,
  description:
    'Lists a folder below the root folder, one entry a line, sorted: folders end in "/", files show their size in ' +
    'bytes, symbolic links are shown and not followed. Answers at most 1,000 entries and says how many there are.',
  input_schema: {
    type: 'object',
    properties: {
      path: { type: 'string', default: '.', description: 'The folder, relative to the root folder.' },
    },
    additionalProperties: false,
  },
  handler: async (given, { signal }) => {
    const path = new Input(given).optionalText('path') ?? '.';
    const folder = await root.folder(path);
    try {
      const { entries, complete } = await entriesOf(folder, signal);
      const listed = await Promise.all(shownPart(entries).map((entry) => described(folder, entry)));
      const lines = listed.map(({ name, kind, size }) => line(shownName(name), kind, size));
      const rest = entries.length - listed.length;
      if (rest > 0)
        lines.push(
          `[truncated: ${complete ? '' : 'at least '}${counted(rest, 'more entry', 'more entries')}]`,
        );
      return {
        content: lines.join('\n') || '(the folder is empty)',
        structured_content: { path: root.relative(path), entries: listed, truncated: rest > 0 },
      };
    } finally {
      await folder.close();
    }
  },
});

/** The entries of a folder, sorted by name, bounded. */
export async function entriesOf(
  folder: OpenFolder,
  signal: AbortSignal,
): Promise<{ entries: Dirent[]; complete: boolean }> {
  const entries: Dirent[] = [];
  for await (const entry of await opendir(folder.own)) {
    signal.throwIfAborted();
    entries.push(entry);
    if (entries.length >= MOST_READ) break;
  }
  entries.sort((one, other) => (one.name < other.name ? -1 : 1));
  return { entries, complete: entries.length < MOST_READ };
}

function shownPart(entries: readonly Dirent[]): readonly Dirent[] {
  let bytes = 0;
  const end = entries.findIndex(
    ({ name }) => (bytes += Buffer.byteLength(JSON.stringify(name))) > MOST_NAME_BYTES,
  );
  return entries.slice(0, Math.min(end < 0 ? entries.length : end, MOST_ENTRIES));
}

interface Listed {
  readonly name: string;
  readonly kind: 'file' | 'folder' | 'link' | 'other';
  readonly size?: number;
}

async function described(folder: OpenFolder, { name }: Dirent): Promise<Listed> {
  const found = await folder.look(name).catch(() => undefined);
  if (found?.isDirectory()) return { name, kind: 'folder' };
  if (found?.isSymbolicLink()) return { name, kind: 'link' };
  return found?.isFile() ? { name, kind: 'file', size: found.size } : { name, kind: 'other' };
}

function line(name: string, kind: Listed['kind'], size = 0): string {
  if (kind === 'folder') return `${name}/`;
  if (kind === 'file') return `${name}  ${size}`;
  return kind === 'link' ? `${name}  (symbolic link)` : `${name}  (neither file nor folder)`;
}
