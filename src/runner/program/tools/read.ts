import type { FileHandle } from 'node:fs/promises';
import { type ServedTool, ToolError } from '../../sdk/tool.js';
import { LOOKS } from '../effect-profiles.js';
import { Input } from '../input.js';
import type { RootFolder } from '../root-folder.js';
import { asText, counted, isBinary } from '../text.js';

const MOST_BYTES = 256 * 1024;
const MOST_LINES = 10_000;
const CHUNK_BYTES = 64 * 1024;
const NEWLINE = 10;

/** `read`: the lines of a text file. */
export const readTool = (root: RootFolder): ServedTool => ({
  name: 'read',
  effect_profile: LOOKS,
  timeout_ms: 30_000,
  description:
    'Reads a text file below the root folder, as it is. Answers at most 256 KiB and says where to read on. ' +
    'Symbolic links are not followed.',
  input_schema: {
    type: 'object',
    properties: {
      path: { type: 'string', description: 'The file, relative to the root folder.' },
      offset: {
        type: 'integer',
        minimum: 1,
        default: 1,
        description: 'The first line to read, counted from 1.',
      },
      limit: {
        type: 'integer',
        minimum: 1,
        maximum: MOST_LINES,
        default: 2_000,
        description: 'How many lines at most.',
      },
    },
    required: ['path'],
    additionalProperties: false,
  },
  handler: async (given, { signal }) => {
    const input = new Input(given);
    const path = input.text('path');
    const offset = input.integer('offset', { least: 1, most: Number.MAX_SAFE_INTEGER, otherwise: 1 });
    const limit = input.integer('limit', { least: 1, most: MOST_LINES, otherwise: 2_000 });
    const handle = await root.file(path);
    try {
      const found = await readLines(handle, { offset, limit, signal });
      const shown = root.relative(path);
      if (found.binary) throw new ToolError(`${shown} is not a text file`);
      if (found.lines === 0 && offset > 1) {
        throw new ToolError(
          `offset ${offset} is past the end: ${shown} has ${counted(found.nextLine - 1, 'line')}`,
        );
      }
      return {
        content: asText(found.bytes) + note(found),
        structured_content: {
          path: shown,
          first_line: offset,
          lines: found.lines,
          truncated: found.truncated,
          ...(found.truncated && { next_offset: found.nextLine }),
          size_bytes: (await handle.stat()).size,
        },
      };
    } finally {
      await handle.close();
    }
  },
});

interface Lines {
  readonly bytes: Buffer;
  readonly binary: boolean;
  readonly lines: number;
  /** Where to read on; where nothing was found, one past the last line. */
  readonly nextLine: number;
  readonly truncated: boolean;
  /** The only line is longer than what is answered. */
  readonly lineCut: boolean;
}

function note({ truncated, lineCut, nextLine, bytes }: Lines): string {
  if (!truncated) return '';
  const cut = lineCut ? `line ${nextLine - 1} is longer than 256 KiB and was cut; ` : '';
  return `${bytes.at(-1) === NEWLINE ? '' : '\n'}[truncated: ${cut}read on with offset ${nextLine}]`;
}

async function readLines(
  handle: FileHandle,
  { offset, limit, signal }: { offset: number; limit: number; signal: AbortSignal },
): Promise<Lines> {
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  const taken = Buffer.allocUnsafe(MOST_BYTES);
  let [size, lineStart, line, inLine] = [0, 0, 1, false];
  const end = (rest: Partial<Lines>): Lines => ({
    bytes: taken.subarray(0, size),
    binary: false,
    lines: Math.max(0, line - offset),
    nextLine: line,
    truncated: false,
    lineCut: false,
    ...rest,
  });
  for (let first = true; ; first = false) {
    signal.throwIfAborted();
    const { bytesRead } = await handle.read(chunk, 0, CHUNK_BYTES, null);
    if (bytesRead === 0) break;
    const bytes = chunk.subarray(0, bytesRead);
    if (first && isBinary(bytes)) return end({ binary: true });
    for (let at = 0; at < bytesRead;) {
      if (line - offset === limit) return end({ truncated: true });
      const newline = bytes.indexOf(NEWLINE, at);
      const next = newline < 0 ? bytesRead : newline + 1;
      if (line >= offset) {
        const piece = bytes.subarray(at, next);
        if (piece.includes(0)) return end({ binary: true });
        const room = MOST_BYTES - size;
        size += piece.copy(taken, size, 0, room);
        if (piece.length > room) {
          if (lineStart > 0) size = lineStart;
          else line += 1;
          return end({ truncated: true, lineCut: lineStart === 0 });
        }
      }
      inLine = newline < 0;
      if (!inLine) {
        line += 1;
        lineStart = size;
      }
      at = next;
    }
  }
  // A last line without its newline is a line too.
  if (inLine) line += 1;
  return end({});
}
