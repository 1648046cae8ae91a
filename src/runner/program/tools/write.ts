import { type ServedTool } from '../../sdk/tool.js';
import { REPLACES } from '../effect-profiles.js';
import { Input } from '../input.js';
import type { PathLocks } from '../path-locks.js';
import { replaceFile } from '../replace-file.js';
import type { RootFolder } from '../root-folder.js';
import { counted } from '../text.js';

/** `write`: a file, whole. */
export const writeTool = (root: RootFolder, locks: PathLocks): ServedTool => ({
  name: 'write',
  effect_profile: REPLACES,
  timeout_ms: 30_000,
  description:
    'Writes a file below the root folder: whole, replacing what was there, or not at all. Missing folders are made. ' +
    'Symbolic links are not followed.',
  input_schema: {
    type: 'object',
    properties: {
      path: { type: 'string', description: 'The file, relative to the root folder.' },
      content: { type: 'string', description: 'All that the file shall hold.' },
    },
    required: ['path', 'content'],
    additionalProperties: false,
  },
  handler: async (given, { signal }) => {
    const input = new Input(given);
    const path = root.relative(input.text('path'));
    const bytes = Buffer.from(input.text('content'));
    const replaced = await locks.hold(path, async () => {
      const { folder, name } = await root.holderOf(path, { create: true });
      try {
        return await replaceFile(folder, name, bytes, signal);
      } finally {
        await folder.close();
      }
    });
    return {
      content: `Wrote ${counted(bytes.length, 'byte')} to ${path}, ${replaced ? 'replacing the file that was there' : 'a new file'}.`,
      structured_content: { path, bytes: bytes.length, replaced },
    };
  },
});
