import type { FileHandle } from 'node:fs/promises';
import { type ServedTool, ToolError } from '../../sdk/tool.js';
import { CHANGES } from '../effect-profiles.js';
import { Input } from '../input.js';
import type { PathLocks } from '../path-locks.js';
import { replaceFile } from '../replace-file.js';
import type { RootFolder } from '../root-folder.js';
import { counted } from '../text.js';

const MOST_BYTES = 8 * 1024 * 1024;

/** `edit`: one text for another in a file. */
export const editTool = (root: RootFolder, locks: PathLocks): ServedTool => ({
  name: 'edit',
  effect_profile: CHANGES,
  timeout_ms: 30_000,
  description:
    'Replaces a text by another in a UTF-8 file below the root folder. old_text must stand there exactly once, to the ' +
    'last space, unless replace_all is true. The file is replaced whole or not at all. Symbolic links are not followed.',
  input_schema: {
    type: 'object',
    properties: {
      path: { type: 'string', description: 'The file, relative to the root folder.' },
      old_text: {
        type: 'string',
        minLength: 1,
        description: 'The text to replace, exactly as it stands in the file.',
      },
      new_text: { type: 'string', description: 'The text to put in its place.' },
      replace_all: { type: 'boolean', default: false, description: 'Replace every occurrence.' },
    },
    required: ['path', 'old_text', 'new_text'],
    additionalProperties: false,
  },
  handler: async (given, { signal }) => {
    const input = new Input(given);
    const path = root.relative(input.text('path'));
    const change = {
      from: input.text('old_text'),
      to: input.text('new_text'),
      all: input.flag('replace_all'),
    };
    const replacements = await locks.hold(path, async () => {
      const { folder, name } = await root.holderOf(path);
      try {
        const handle = await folder.file(name);
        try {
          const read = await handle.stat();
          const { text, count } = replaced(await textOf(handle, read.size, path), change, path);
          await replaceFile(folder, name, Buffer.from(text), signal, { read });
          return count;
        } finally {
          await handle.close();
        }
      } finally {
        await folder.close();
      }
    });
    return {
      content: `Replaced ${counted(replacements, 'occurrence')} in ${path}.`,
      structured_content: { path, replacements },
    };
  },
});

async function textOf(handle: FileHandle, size: number, path: string): Promise<string> {
  if (size > MOST_BYTES) throw new ToolError(`${path} is larger than 8 MiB`);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await handle.readFile());
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code === 'ERR_ENCODING_INVALID_ENCODED_DATA')
      throw new ToolError(`${path} is not UTF-8 text`);
    throw fault;
  }
}

/** `text` with `from` replaced by `to`, character for character. Throws where it is not there, or not unique. */
export function replaced(
  text: string,
  { from, to, all }: { from: string; to: string; all: boolean },
  path: string,
): { text: string; count: number } {
  if (from === '') throw new ToolError('old_text must not be empty');
  if (from === to) throw new ToolError('old_text and new_text are the same');
  const parts = text.split(from);
  const count = parts.length - 1;
  if (count === 0) throw new ToolError(`old_text does not stand in ${path}`);
  if (!all && (count > 1 || text.indexOf(from) !== text.lastIndexOf(from))) {
    throw new ToolError(
      `old_text stands in ${path} more than once; give more of its surroundings, or replace_all`,
    );
  }
  return { text: parts.join(to), count };
}
