import { type ServedTool } from '../../sdk/tool.js';
import { LOOKS } from '../effect-profiles.js';
import { Input } from '../input.js';
import type { RootFolder } from '../root-folder.js';
import { counted } from '../text.js';

/** In base64 this stays under the 768 KiB of a result. */
const MOST_BYTES = 512 * 1024;

/**
 * `files_bytes`: the bytes of a file in base64, for a person's client: `{path, offset?, length?}`. Without description
 * and schema it is an operator capability, never in a model's declaration.
 */
export const filesBytesTool = (root: RootFolder): ServedTool => ({
  name: 'files_bytes',
  effect_profile: LOOKS,
  timeout_ms: 30_000,
  handler: async (given) => {
    const input = new Input(given);
    const path = input.text('path');
    const offset = input.integer('offset', { least: 0, most: Number.MAX_SAFE_INTEGER, otherwise: 0 });
    const length = input.integer('length', { least: 1, most: MOST_BYTES, otherwise: MOST_BYTES });
    const handle = await root.file(path);
    try {
      const { size } = await handle.stat();
      const wanted = Buffer.alloc(Math.max(0, Math.min(length, size - offset)));
      const { bytesRead } = await handle.read(wanted, 0, wanted.length, offset);
      const shown = root.relative(path);
      return {
        content: `${counted(bytesRead, 'byte')} of ${shown} from ${offset}, of ${size} in all.`,
        structured_content: {
          path: shown,
          offset,
          length: bytesRead,
          size,
          base64: wanted.subarray(0, bytesRead).toString('base64'),
        },
      };
    } finally {
      await handle.close();
    }
  },
});
