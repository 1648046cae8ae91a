import { sep } from 'node:path';
import { ToolError } from '../sdk/tool.js';

/** The longest path taken, in UTF-8 bytes; what Linux takes. */
const MOST_PATH_BYTES = 4_096;

/**
 * The names on the way from the root folder to `path`; empty for the root itself. `.` and `..` are resolved in the
 * text: no symbolic link is ever followed, so the text is the truth. An absolute path is taken when it lies below
 * `root`. Throws `ToolError` for a path that leads outside, or is none.
 */
export function namesBelow(root: string, path: string): string[] {
  if (path.includes('\0')) throw new ToolError('path holds a NUL character');
  if (Buffer.byteLength(path) > MOST_PATH_BYTES)
    throw new ToolError(`path is longer than ${MOST_PATH_BYTES} bytes`);
  const slashed = sep === '/' ? path : path.replaceAll(sep, '/');
  const below = slashed.startsWith('/') || /^[A-Za-z]:/.test(slashed) ? relativeTo(root, slashed) : slashed;
  if (below === undefined) throw outside(path);
  const names: string[] = [];
  for (const name of below.split('/')) {
    if (name === '' || name === '.') continue;
    if (name !== '..') names.push(name);
    else if (names.pop() === undefined) throw outside(path);
  }
  return names;
}

function relativeTo(root: string, absolute: string): string | undefined {
  const base = (sep === '/' ? root : root.replaceAll(sep, '/')).replace(/\/+$/, '');
  if (absolute === base) return '';
  return absolute.startsWith(`${base}/`) ? absolute.slice(base.length + 1) : undefined;
}

const outside = (path: string): ToolError =>
  new ToolError(`${path} leads outside the root folder; paths are relative to it`);
