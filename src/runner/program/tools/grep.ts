import { setImmediate as nextTurn } from 'node:timers/promises';
import { RE2JS } from 're2js';
import { type ServedTool, ToolError } from '../../sdk/tool.js';
import { LOOKS } from '../effect-profiles.js';
import { globMatcher } from '../glob.js';
import { Input } from '../input.js';
import type { OpenFolder, RootFolder } from '../root-folder.js';
import { asText, counted, isBinary } from '../text.js';
import { entriesOf } from './ls.js';

const MOST_PATTERN = 1_000;
const MOST_MATCHES = 1_000;
const MOST_FILE_BYTES = 8 * 1024 * 1024;
const MOST_ANSWER_BYTES = 256 * 1024;
/** Only the first characters of a line are searched; fewer still are shown. */
const MOST_LINE_SEARCHED = 16_384;
const MOST_LINE_SHOWN = 500;
const MOST_DEPTH = 64;
const MOST_MS = 20_000;
/** The event loop is given its turn this often, so that claims are extended meanwhile. */
const TURN_MS = 10;
const SKIPPED_FOLDERS = new Set(['.git', 'node_modules']);

/** `grep`: lines that match a regular expression. */
export const grepTool = (root: RootFolder): ServedTool => ({
  name: 'grep',
  effect_profile: LOOKS,
  timeout_ms: 30_000,
  description:
    'Searches the text files of a folder below the root folder, or one file, for a regular expression (RE2 syntax), ' +
    'line by line. Answers "path:line:text", sorted by path. Binary files, files over 8 MiB, symbolic links and, unless ' +
    'path leads into them, the folders .git and node_modules are passed over.',
  input_schema: {
    type: 'object',
    properties: {
      pattern: {
        type: 'string',
        minLength: 1,
        maxLength: MOST_PATTERN,
        description: 'A regular expression in RE2 syntax.',
      },
      path: {
        type: 'string',
        default: '.',
        description: 'The folder or file to search, relative to the root folder.',
      },
      glob: { type: 'string', description: 'Only files that match, such as *.ts or src/**/*.md.' },
      ignore_case: { type: 'boolean', default: false, description: 'Take upper and lower case as the same.' },
      max_matches: {
        type: 'integer',
        minimum: 1,
        maximum: MOST_MATCHES,
        default: 200,
        description: 'How many lines at most.',
      },
    },
    required: ['pattern'],
    additionalProperties: false,
  },
  handler: async (given, { signal }) => {
    const input = new Input(given);
    const path = input.optionalText('path') ?? '.';
    const glob = input.optionalText('glob');
    const search = new Search(
      compiled(input.text('pattern'), input.flag('ignore_case')),
      glob === undefined ? () => true : globMatcher(glob),
      input.integer('max_matches', { least: 1, most: MOST_MATCHES, otherwise: 200 }),
      signal,
    );
    await search.at(root, path);
    return search.result();
  },
});

function compiled(pattern: string, ignoreCase: boolean): RE2JS {
  if (pattern === '' || pattern.length > MOST_PATTERN)
    throw new ToolError(`pattern must have 1 to ${MOST_PATTERN} characters`);
  try {
    return RE2JS.compile(pattern, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
  } catch (fault) {
    throw new ToolError(`pattern is not a regular expression in RE2 syntax: ${(fault as Error).message}`);
  }
}

/** One search, bounded in matches, bytes, depth and time. */
class Search {
  private readonly lines: string[] = [];
  private bytes = 0;
  private files = 0;
  private unreadable = 0;
  private stoppedBy: string | undefined;
  private readonly startedAt = performance.now();
  private turnedAt = performance.now();

  constructor(
    private readonly pattern: RE2JS,
    private readonly wanted: (path: string) => boolean,
    private readonly mostMatches: number,
    private readonly signal: AbortSignal,
  ) {}

  async at(root: RootFolder, path: string): Promise<void> {
    if (root.relative(path) === '.')
      return this.closing(await root.folder('.'), (folder) => this.folder(folder, 0));
    const { folder, name } = await root.holderOf(path);
    await this.closing(folder, async () => {
      if ((await folder.look(name))?.isDirectory())
        await this.closing(await folder.folder(name), (it) => this.folder(it, 0));
      else await this.file(folder, name, true);
    });
  }

  result(): { content: string; structured_content: object } {
    const notes: string[] = [];
    if (this.lines.length === 0) notes.push(`No match in ${counted(this.files, 'file')}.`);
    if (this.stoppedBy !== undefined) notes.push(`[truncated: stopped at ${this.stoppedBy}]`);
    if (this.unreadable > 0)
      notes.push(`[${counted(this.unreadable, 'file or folder', 'files or folders')} could not be opened]`);
    return {
      content: [...this.lines, ...notes].join('\n'),
      structured_content: {
        matches: this.lines.length,
        files_searched: this.files,
        unreadable: this.unreadable,
        truncated: this.stoppedBy !== undefined,
      },
    };
  }

  private async folder(folder: OpenFolder, depth: number): Promise<void> {
    const { entries } = await entriesOf(folder, this.signal);
    for (const entry of entries) {
      if (this.stoppedBy !== undefined) return;
      if (entry.isFile()) {
        if (this.wanted(folder.show(entry.name))) await this.file(folder, entry.name, false);
      } else if (entry.isDirectory() && depth < MOST_DEPTH && !SKIPPED_FOLDERS.has(entry.name)) {
        const below = await folder.folder(entry.name).catch(this.passOver);
        if (below) await this.closing(below, () => this.folder(below, depth + 1));
      }
    }
  }

  /** A file that was asked for by name must be there; one that was met on the way may be passed over. */
  private async file(folder: OpenFolder, name: string, named: boolean): Promise<void> {
    const handle = await folder.file(name).catch(named ? rethrow : this.passOver);
    if (!handle) return;
    let bytes: Buffer;
    try {
      const { size } = await handle.stat();
      if (size > MOST_FILE_BYTES && named) throw new ToolError(`${folder.show(name)} is larger than 8 MiB`);
      if (size > MOST_FILE_BYTES) return;
      bytes = await handle.readFile();
    } finally {
      await handle.close();
    }
    // A read is bounded, so it is not interrupted: what is thrown is the reason of the call's end, not Node's words.
    this.signal.throwIfAborted();
    if (isBinary(bytes)) {
      if (named) throw new ToolError(`${folder.show(name)} is not a text file`);
      return;
    }
    this.files += 1;
    await this.text(folder.show(name), asText(bytes));
  }

  private async text(path: string, text: string): Promise<void> {
    for (let at = 0, number = 1; at < text.length; number += 1) {
      const newline = text.indexOf('\n', at);
      const end = newline < 0 ? text.length : newline;
      const line = text.slice(at, Math.min(end, at + MOST_LINE_SEARCHED));
      if (this.pattern.test(line)) this.take(`${path}:${number}:${shownLine(line)}`);
      if (this.stoppedBy !== undefined) break;
      at = end + 1;
      await this.breathe();
    }
  }

  private take(line: string): void {
    if (this.lines.length >= this.mostMatches) {
      this.stoppedBy = counted(this.mostMatches, 'match', 'matches');
      return;
    }
    this.bytes += Buffer.byteLength(line) + 1;
    if (this.bytes > MOST_ANSWER_BYTES) this.stoppedBy = '256 KiB';
    else this.lines.push(line);
  }

  private breathe(): Promise<void> | undefined {
    const now = performance.now();
    if (now - this.startedAt > MOST_MS) this.stoppedBy = `${MOST_MS / 1_000} s`;
    if (now - this.turnedAt < TURN_MS) return undefined;
    return nextTurn().then(() => {
      this.signal.throwIfAborted();
      this.turnedAt = performance.now();
    });
  }

  private readonly passOver = (): undefined => {
    this.unreadable += 1;
  };

  private async closing(folder: OpenFolder, use: (folder: OpenFolder) => Promise<void>): Promise<void> {
    try {
      await use(folder);
    } finally {
      await folder.close();
    }
  }
}

/** NUL cannot be stored; a carriage return at the end belongs to the line ending. */
function shownLine(line: string): string {
  const whole = line.replace(/\r$/, '').replaceAll('\0', '\ufffd');
  return whole.length > MOST_LINE_SHOWN ? `${whole.slice(0, MOST_LINE_SHOWN)}…` : whole;
}

function rethrow(fault: unknown): never {
  throw fault;
}
