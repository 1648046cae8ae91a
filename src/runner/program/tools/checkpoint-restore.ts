import type { ServedTool } from '../../sdk/tool.js';
import type { Checkpoints } from '../checkpoints/checkpoints.js';
import { REPLACES } from '../effect-profiles.js';
import type { PathLocks } from '../path-locks.js';
import { counted } from '../text.js';

/** Paths that an answer names. */
const MOST_NAMED = 1_000;

/**
 * `checkpoint_restore {checkpoint}`: the files below the root folder as they were. An operator capability; its own checkpoint,
 * taken before, undoes it. What a checkpoint leaves out is not touched.
 */
export const checkpointRestoreTool = (checkpoints: Checkpoints, locks: PathLocks): ServedTool => ({
  name: 'checkpoint_restore',
  effect_profile: REPLACES,
  timeout_ms: 120_000,
  handler: async (given, { signal, checkpoint: keep }) => {
    const { checkpoint } = (given ?? {}) as { checkpoint?: unknown };
    const { written, removed } = await checkpoints.restore(checkpoint, locks, keep, signal);
    return {
      content: `Put back ${counted(written.length, 'file')}, removed ${counted(removed.length, 'file')}.`,
      structured_content: {
        written: written.slice(0, MOST_NAMED),
        removed: removed.slice(0, MOST_NAMED),
        truncated: written.length > MOST_NAMED || removed.length > MOST_NAMED,
      },
    };
  },
});
