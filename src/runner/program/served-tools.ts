import type { ServedTool } from '../sdk/tool.js';
import { PathLocks } from './path-locks.js';
import type { RootFolder } from './root-folder.js';
import { bashTool } from './tools/bash.js';
import { editTool } from './tools/edit.js';
import { filesBytesTool } from './tools/files-bytes.js';
import { grepTool } from './tools/grep.js';
import { lsTool } from './tools/ls.js';
import { readTool } from './tools/read.js';
import { writeTool } from './tools/write.js';

/** What the reference runner serves under one root folder; `bash` only where it is allowed. */
export function servedTools(root: RootFolder, { allowBash }: { allowBash: boolean }): ServedTool[] {
  const locks = new PathLocks();
  const tools = [
    readTool(root),
    writeTool(root, locks),
    editTool(root, locks),
    lsTool(root),
    grepTool(root),
    filesBytesTool(root),
  ];
  return allowBash ? [...tools, bashTool(root)] : tools;
}
