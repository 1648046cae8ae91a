import type { ServedTool } from '../../sdk/tool.js';
import type { RootFolder } from '../root-folder.js';
import type { Checkpoints } from './checkpoints.js';

/** A tool that writes, with a checkpoint before each call; it goes with the call's evidence whatever becomes of it. */
export const checkpointed = (tool: ServedTool, root: RootFolder, checkpoints: Checkpoints): ServedTool => ({
  ...tool,
  handler: async (input, context) => {
    context.checkpoint(await checkpoints.before(tool.name, pathsOf(input, root), context.signal));
    return tool.handler(input, context);
  },
});

/** The file that a call names; a name that is none is the tool's to refuse. */
function pathsOf(input: unknown, root: RootFolder): string[] {
  const path = (input as { path?: unknown } | null)?.path;
  if (typeof path !== 'string') return [];
  try {
    const relative = root.relative(path);
    return relative === '.' ? [] : [relative];
  } catch {
    return [];
  }
}
