import type { ServedTool } from '../sdk/tool.js';
import { checkpointed } from './checkpoints/checkpointed.js';
import type { Checkpoints } from './checkpoints/checkpoints.js';
import { PathLocks } from './path-locks.js';
import type { RootFolder } from './root-folder.js';
import { bashTool } from './tools/bash.js';
import { checkpointRestoreTool } from './tools/checkpoint-restore.js';
import { checkpointsTool } from './tools/checkpoints.js';
import { editTool } from './tools/edit.js';
import { filesBytesTool } from './tools/files-bytes.js';
import { grepTool } from './tools/grep.js';
import { lsTool } from './tools/ls.js';
import { readTool } from './tools/read.js';
import { writeTool } from './tools/write.js';

/**
 * What the reference runner serves under one root folder; `bash` only where it is allowed. With `checkpoints` one is taken
 * before each call that writes.
 */
export function servedTools(
  root: RootFolder,
  { allowBash }: { allowBash: boolean },
  checkpoints?: Checkpoints,
): ServedTool[] {
  const locks = new PathLocks();
  const writing = (tool: ServedTool): ServedTool =>
    checkpoints ? checkpointed(tool, root, checkpoints) : tool;
  return [
    readTool(root),
    writing(writeTool(root, locks)),
    writing(editTool(root, locks)),
    lsTool(root),
    grepTool(root),
    filesBytesTool(root),
    ...(checkpoints ? [checkpointRestoreTool(checkpoints, locks), checkpointsTool(checkpoints)] : []),
    ...(allowBash ? [writing(bashTool(root))] : []),
  ];
}
