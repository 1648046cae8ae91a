import { createHash, randomBytes } from 'node:crypto';
import type { Git } from './git.js';
import type { LeftOut } from './left-out.js';

/** Checkpoints that are kept; older ones are dropped. */
const KEPT = 1_000;
/** Above this, in KiB, half of them are dropped. */
const MOST_STORE_KIB = 4 * 1024 * 1024;
/** What is younger stays in any case: another runner of this root folder may be storing it just now. */
const STAYS = '10.minutes.ago';
/** `git gc --auto` acts once this many objects lie about. */
const TIDIES_SELDOM = ['gc.auto=2000', 'gc.autoDetach=false', `gc.pruneExpire=${STAYS}`].flatMap(
  (setting) => ['-c', setting],
);
/** How long tidying up may take. */
const TIDY_MS = 120_000;

/** A file of a checkpoint. */
export interface StoredFile {
  readonly oid: string;
  /** Who may read, write and execute it. */
  readonly mode: number;
}

/** What a checkpoint says beside its files. */
export interface CheckpointNotes {
  /** What was about to happen, for people. */
  readonly before: string;
  readonly leftOut: Readonly<Record<string, LeftOut>>;
  /** Paths that were asked for and were not there. */
  readonly absent: readonly string[];
}

/** The notes as they are stored: modes that git knows nothing of stand beside. */
interface StoredNotes extends Omit<CheckpointNotes, 'before'> {
  readonly modes?: Readonly<Record<string, number>>;
}

export interface Checkpoint extends CheckpointNotes {
  readonly files: ReadonlyMap<string, StoredFile>;
}

/** The two modes of a file that git knows. */
const GIT_MODES = { '100644': 0o644, '100755': 0o755 } as const;

const REFS = 'refs/checkpoints';
const ID = /^([0-9a-f]{12})-[0-9a-f]{16}$/;

/** Names a checkpoint: its time in ms, so that ids sort, and chance. */
export const newCheckpointId = (): string =>
  `${Date.now().toString(16).padStart(12, '0')}-${randomBytes(8).toString('hex')}`;

export const isCheckpointId = (value: unknown): value is string =>
  typeof value === 'string' && ID.test(value);

/** When a checkpoint was taken. */
export const takenAt = (id: string): Date => new Date(Number.parseInt(ID.exec(id)?.[1] ?? '0', 16));

/** What git calls a file's content. */
export const blobId = (bytes: Uint8Array): string =>
  createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');

/** What tells `git fast-import` a file's content. */
export const blobCommand = (bytes: Buffer): (string | Buffer)[] => [
  `blob\ndata ${bytes.length}\n`,
  bytes,
  '\n',
];

/** What tells `git fast-import` a whole checkpoint: a commit without parents. */
export function* checkpointCommand(
  id: string,
  files: ReadonlyMap<string, StoredFile>,
  { before, ...notes }: CheckpointNotes,
): Generator<string> {
  const modes = [...files].flatMap(([path, { mode }]) =>
    mode === GIT_MODES[gitMode(mode)] ? [] : [[path, mode]],
  );
  const stored: StoredNotes = { ...notes, modes: Object.fromEntries(modes) as Record<string, number> };
  const message = `${before}\n\n${JSON.stringify(stored)}`;
  const seconds = Math.floor(takenAt(id).getTime() / 1_000);
  yield `commit ${REFS}/${id}\ncommitter Nexus runner <> ${seconds} +0000\ndata ${Buffer.byteLength(message)}\n${message}\n`;
  for (const [path, { oid, mode }] of files) yield `M ${gitMode(mode)} ${oid} ${quoted(path)}\n`;
  yield '\n';
}

const gitMode = (mode: number): keyof typeof GIT_MODES => ((mode & 0o100) === 0 ? '100644' : '100755');

const quoted = (path: string): string =>
  `"${path.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`;

/** Checkpoints in a git store: one ref for each, in order of time. */
export class CheckpointStore {
  constructor(private readonly git: Git) {}

  /** Runs the commands of `fast-import` that `input` yields; everything is stored when it resolves, or nothing counts. */
  async import(input: AsyncIterable<string | Buffer>, signal: AbortSignal): Promise<void> {
    await this.git.text(['fast-import', '--quiet', '--done', '--date-format=raw'], { input, signal });
  }

  /** Undefined for one that is not kept, or never was here. */
  async read(id: string, signal: AbortSignal): Promise<Checkpoint | undefined> {
    const ref = `${REFS}/${id}`;
    const verify = ['rev-parse', '--verify', '--quiet', ref];
    if ((await this.git.text(verify, { signal, expected: [0, 1] })) === '') return undefined;
    const commit = await this.git.text(['cat-file', 'commit', ref], { signal });
    const [before = '', notes = '{}'] = commit.slice(commit.indexOf('\n\n') + 2).split('\n\n');
    const listing = await this.git.text(['ls-tree', '-r', '-z', '--full-tree', ref], { signal });
    const { leftOut, absent, modes = {} } = JSON.parse(notes) as StoredNotes;
    const files = listing.split('\0').flatMap((entry) => storedFile(entry, modes));
    return { before, leftOut, absent, files: new Map(files) };
  }

  /** The contents of these blobs, in this order, one at a time. */
  async *contents(oids: readonly string[], signal: AbortSignal): AsyncGenerator<Buffer> {
    const input = oids.map((oid) => `${oid}\n`);
    let rest: Buffer = Buffer.alloc(0);
    let chunks: Buffer[] = [];
    let missing = 0;
    for await (const chunk of this.git.stream(['cat-file', '--batch'], { input, signal })) {
      chunks.push(chunk);
      missing -= chunk.length;
      if (missing > 0) continue;
      rest = Buffer.concat([rest, ...chunks]);
      chunks = [];
      for (missing = 0; missing === 0;) {
        const line = rest.indexOf('\n');
        const size = line < 0 ? undefined : sizeOf(rest.toString('latin1', 0, line));
        const end = size === undefined ? Infinity : line + 1 + size + 1;
        if (end > rest.length) missing = Number.isFinite(end) ? end - rest.length : 1;
        else {
          yield rest.subarray(line + 1, end - 1);
          rest = rest.subarray(end);
        }
      }
    }
  }

  /** The newest checkpoints, newest first. */
  async list(most: number, signal: AbortSignal): Promise<{ id: string; before: string }[]> {
    const format = '%(refname:lstrip=2)%00%(contents:subject)';
    const args = ['for-each-ref', '--sort=-refname', `--count=${most}`, `--format=${format}`, REFS];
    const lines = (await this.git.text(args, { signal })).split('\n').filter((line) => line !== '');
    return lines.map((line) => {
      const [id = '', before = ''] = line.split('\0');
      return { id, before };
    });
  }

  /** Drops the oldest checkpoints beyond what is kept, and at times what only they held. */
  async tidy(ended: AbortSignal): Promise<void> {
    const signal = AbortSignal.any([ended, AbortSignal.timeout(TIDY_MS)]);
    await this.keep(KEPT, signal);
    await this.git.text([...TIDIES_SELDOM, 'gc', '--quiet', '--auto'], { signal });
    if ((await this.sizeKib(signal)) <= MOST_STORE_KIB) return;
    await this.keep(KEPT / 2, signal);
    await this.git.text(['gc', '--quiet', `--prune=${STAYS}`], { signal });
  }

  private async keep(most: number, signal: AbortSignal): Promise<void> {
    const ids = await this.list(2 * KEPT, signal);
    const input = ids.slice(most).map(({ id }) => `delete ${REFS}/${id}\n`);
    if (input.length > 0) await this.git.text(['update-ref', '--stdin'], { input, signal });
  }

  private async sizeKib(signal: AbortSignal): Promise<number> {
    const counts = await this.git.text(['count-objects', '-v'], { signal });
    const of = (name: string): number => Number(new RegExp(`^${name}: (\\d+)$`, 'm').exec(counts)?.[1] ?? 0);
    return of('size') + of('size-pack');
  }
}

function storedFile(entry: string, modes: Readonly<Record<string, number>>): [string, StoredFile][] {
  const found = /^(100755|100644) blob ([0-9a-f]{40})\t(.*)$/s.exec(entry);
  if (!found) return [];
  const [, known, oid = '', path = ''] = found;
  const mode = Object.hasOwn(modes, path) ? modes[path] : undefined;
  return [[path, { oid, mode: mode ?? GIT_MODES[known as keyof typeof GIT_MODES] }]];
}

/** The size in a line of `cat-file --batch`. Throws where the blob is not there. */
function sizeOf(line: string): number {
  const size = / blob (\d+)$/.exec(line)?.[1];
  if (size === undefined) throw new Error(`the store is damaged: ${line}`);
  return Number(size);
}
