import { RE2JS } from 're2js';
import { ToolError } from '../sdk/tool.js';

const WORDS: Readonly<Record<string, string>> = { '**/': '(?:.*/)?', '**': '.*', '*': '[^/]*', '?': '[^/]' };

/**
 * Whether a path below the root matches a glob: `*` and `?` stay within a name, `**` crosses folders, `{a,b}` is one
 * of several. A glob without `/` is about the last name alone. Linear in the length of the path. Throws `ToolError`.
 */
export function globMatcher(glob: string): (path: string) => boolean {
  if (glob.length > 1_000) throw new ToolError('glob is longer than 1,000 characters');
  const wholePath = glob.includes('/');
  let depth = 0;
  const source = glob.replace(/^\//, '').replace(/\*\*\/|\*\*|[*?{},]|[^*?{},]+/g, (part) => {
    if (part === ',' && depth > 0) return '|';
    if (part === '{') {
      depth += 1;
      return '(?:';
    }
    if (part === '}' && depth > 0) {
      depth -= 1;
      return ')';
    }
    return WORDS[part] ?? RE2JS.quote(part);
  });
  if (depth > 0) throw new ToolError('glob opens a brace that it does not close');
  const matcher = RE2JS.compile(source, RE2JS.DOTALL);
  return (path) => matcher.testExact(wholePath ? path : path.slice(path.lastIndexOf('/') + 1));
}
