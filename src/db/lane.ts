import { Logger } from '@nestjs/common';

/** What one kind of statement needs to be shared. */
export interface LaneOptions<Job, Outcome> {
  /** Names the lane in the log. */
  readonly name: string;
  /** Writes the jobs in one statement, which is one transaction; answers one outcome for each, by position. */
  readonly flush: (jobs: readonly Job[]) => Promise<readonly Outcome[]>;
  /** Of the jobs with one key one is under way at a time: what it did is seen by the next. */
  readonly keyOf: (job: Job) => string;
  /** Bytes that a job adds to its statement; default 0. */
  readonly bytesOf?: (job: Job) => number;
  /** Flushes under way at most; default 3. */
  readonly flushes?: number;
  /** Jobs in one flush at most; default 32. */
  readonly jobs?: number;
  /** A flush with this many bytes takes no more; default 4 MiB. */
  readonly bytes?: number;
}

interface Waiting<Job, Outcome> {
  readonly job: Job;
  readonly key: string;
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (fault: unknown) => void;
}

/** SQLSTATE classes that say a job could not be written, and nothing about the others or the connection. */
const FAULT_OF_A_JOB = /^(2[123]|40|54)/;

/**
 * Natural batching: one kind of write, a few flushes under way; whatever has gathered meanwhile goes out as soon as one of
 * them is done. No timer: a job that is alone goes at once. Invariant: a job is settled by its own outcome or fault; one
 * that makes a shared statement fail never fails its neighbours, who are then written one by one.
 */
export class Lane<Job, Outcome> {
  private readonly log: Logger;
  private readonly options: Required<LaneOptions<Job, Outcome>>;
  private readonly keys = new Set<string>();
  private waiting: Waiting<Job, Outcome>[] = [];
  private underWay = 0;
  private isPumping = false;

  constructor(options: LaneOptions<Job, Outcome>) {
    this.options = { bytesOf: () => 0, flushes: 3, jobs: 32, bytes: 4 * 1024 * 1024, ...options };
    this.log = new Logger(`Lane ${options.name}`);
  }

  /** Writes a job; rejects with the fault of its statement. */
  run(job: Job): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ job, key: this.options.keyOf(job), resolve, reject });
      this.pump();
    });
  }

  /** After the current turn of microtasks, so that jobs which come together go together. */
  private pump(): void {
    if (this.isPumping) return;
    this.isPumping = true;
    queueMicrotask(() => {
      this.isPumping = false;
      while (this.underWay < this.options.flushes) {
        const entries = this.take();
        if (entries.length === 0) return;
        this.send(entries);
      }
    });
  }

  /** The oldest jobs that may go together; none when all that wait are kept by a key under way. */
  private take(): Waiting<Job, Outcome>[] {
    const { jobs, bytes, bytesOf } = this.options;
    const taken: Waiting<Job, Outcome>[] = [];
    const left: Waiting<Job, Outcome>[] = [];
    let weight = 0;
    for (const entry of this.waiting) {
      const isFull = taken.length >= jobs || weight >= bytes;
      if (isFull || this.keys.has(entry.key)) {
        left.push(entry);
        continue;
      }
      this.keys.add(entry.key);
      taken.push(entry);
      weight += bytesOf(entry.job);
    }
    this.waiting = left;
    return taken;
  }

  private send(entries: readonly Waiting<Job, Outcome>[]): void {
    this.underWay += 1;
    void this.write(entries).finally(() => {
      this.underWay -= 1;
      for (const { key } of entries) this.keys.delete(key);
      this.pump();
    });
  }

  private async write(entries: readonly Waiting<Job, Outcome>[]): Promise<void> {
    try {
      const outcomes = await this.options.flush(entries.map(({ job }) => job));
      if (outcomes.length !== entries.length) throw new Error('A flush answers one outcome for each job');
      for (const [index, { resolve }] of entries.entries()) resolve(outcomes[index] as Outcome);
    } catch (fault) {
      if (entries.length === 1 || !isOfAJob(fault)) {
        for (const { reject } of entries) reject(fault);
        return;
      }
      const { code } = fault as { code: string };
      this.log.warn(`a shared statement failed with ${code}: its ${entries.length} jobs go alone`);
      for (const entry of entries) await this.write([entry]);
    }
  }
}

function isOfAJob(fault: unknown): boolean {
  const { code } = fault as { code?: unknown };
  return typeof code === 'string' && FAULT_OF_A_JOB.test(code);
}
