import type { ServedTool } from '../../sdk/tool.js';
import type { Checkpoints } from '../checkpoints/checkpoints.js';
import { LOOKS } from '../effect-profiles.js';
import { counted } from '../text.js';

const MOST_LISTED = 200;

/** `checkpoints {}`: what can be restored here, newest first. An operator capability. */
export const checkpointsTool = (checkpoints: Checkpoints): ServedTool => ({
  name: 'checkpoints',
  effect_profile: LOOKS,
  timeout_ms: 30_000,
  handler: async (_, { signal }) => {
    const found = await checkpoints.list(MOST_LISTED, signal);
    return {
      content: `The newest ${counted(found.length, 'checkpoint')}.`,
      structured_content: { checkpoints: found },
    };
  },
});
