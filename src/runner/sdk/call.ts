import { refusedResult, returned, thrown } from './call-result.js';
import { commitBytes, type ExecutorVerbs } from './executor-verbs.js';
import type { Log } from './log.js';
import { type Claimed, Park } from './park.js';
import { pause } from './pause.js';
import { Progress } from './progress.js';
import { RefusedError } from './refused-error.js';
import { CallEndedError, type ServedTool, type ToolContext } from './tool.js';
import type { CommitBody } from './wire.js';

/** The largest commit that Nexus takes, in bytes of JSON (chapter 9). */
const MOST_COMMIT_BYTES = 1024 * 1024;

/**
 * One claimed call, from its claim to its commit. Invariant: whatever becomes of the handler, the call is committed,
 * and the commit is repeated until Nexus acknowledges it; Nexus decides what a late one is worth.
 */
export class Call {
  private readonly stop = new AbortController();
  private readonly park: Park;
  private readonly abandoned: Promise<CommitBody>;
  private abandonWith!: (body: CommitBody) => void;
  private kept: { readonly checkpoint: unknown } | undefined;
  private endTimer: NodeJS.Timeout | undefined;

  constructor(
    readonly claimed: Claimed,
    private readonly tool: ServedTool | undefined,
    private readonly verbs: ExecutorVerbs,
    private readonly log: Log,
    /** Aborts when even a commit may no longer be repeated. */
    private readonly insist: AbortSignal,
  ) {
    this.park = new Park(claimed);
    this.abandoned = new Promise((resolve) => (this.abandonWith = resolve));
  }

  /**
   * Resolves when the call is committed, or its commit was refused for good; `worked` is told how long the handler took,
   * and how it failed if it did. Never throws.
   */
  async run(worked: (nanoseconds: number, error?: string) => void): Promise<void> {
    const startedAt = process.hrtime.bigint();
    const body = await this.carryOut();
    worked(Number(process.hrtime.bigint() - startedAt), faultOf(body));
    await this.commit(this.kept ? { ...body, metadata: { ...this.kept, ...body.metadata } } : body);
  }

  /** Tells the handler to stop; the first reason holds. */
  end(why: CallEndedError['why'], message: string): void {
    if (!this.stop.signal.aborted) this.stop.abort(new CallEndedError(why, message));
  }

  /** Waits for the handler no longer. */
  abandon(message: string): void {
    this.abandonWith({ outcome: 'failed', content: message });
  }

  /** Asks whether the claim still holds, and ends the call where it does not: a lost push loses nothing. */
  async check(): Promise<void> {
    try {
      const { claim } = await this.verbs.claimStatus(this.claimed.task, this.claimed.claimToken);
      if (!claim.active) this.end('canceled', 'The call was canceled.');
    } catch (fault) {
      if (fault instanceof RefusedError && !fault.passing) this.lost(fault);
    }
  }

  private async carryOut(): Promise<CommitBody> {
    const { tool, stop, claimed } = this;
    if (!tool) return { outcome: 'failed', content: `This runner does not serve ${claimed.task.tool_name}.` };
    if (stop.signal.aborted) return thrown(stop.signal.reason, stop.signal);
    const ended = new AbortController();
    const progress = new Progress((frame) => this.show(frame));
    this.endAtDeadline();
    void this.keepClaimed(ended.signal);
    try {
      const work = (async () => tool.handler(claimed.task.tool_input, this.context(progress)))();
      return await Promise.race([work.then(returned), this.abandoned]);
    } catch (fault) {
      return thrown(fault, stop.signal);
    } finally {
      ended.abort();
      progress.end();
      clearTimeout(this.endTimer);
    }
  }

  private context(progress: Progress): ToolContext {
    const { park } = this;
    return {
      signal: this.stop.signal,
      get deadlineAt() {
        return new Date(Date.now() + park.msToEnd(performance.now()));
      },
      runPublicId: this.claimed.task.run_public_id,
      taskKey: this.claimed.task.task_key,
      checkpoint: (checkpoint) => (this.kept = { checkpoint }),
      progress: (frame) => progress.show(frame),
    };
  }

  /** Extends at half the park for as long as the handler works. */
  private async keepClaimed(ended: AbortSignal): Promise<void> {
    const { task, claimToken } = this.claimed;
    try {
      for (;;) {
        await pause(this.park.msToExtension(performance.now()), ended);
        let askedAt = 0;
        const extend = (): Promise<unknown> => {
          askedAt = performance.now();
          return this.verbs.extend(task, claimToken, task.timeout_ms);
        };
        await this.verbs.repeated('extend', extend, ended);
        this.park.extended(askedAt);
        this.endAtDeadline();
      }
    } catch (fault) {
      if (!ended.aborted && fault instanceof RefusedError && fault.code !== 'extension_too_long')
        this.lost(fault);
    }
  }

  private endAtDeadline(): void {
    clearTimeout(this.endTimer);
    const message = 'The deadline of the call passed, and it could not be extended.';
    this.endTimer = setTimeout(
      () => this.end('deadline_passed', message),
      this.park.msToEnd(performance.now()),
    );
  }

  private lost(refusal: RefusedError): void {
    this.end(
      'claim_lost',
      `The call is no longer held by this runner (${refusal.code}): it was canceled or is settled.`,
    );
  }

  private show(frame: { text_tail?: string; structured?: unknown }): void {
    const { task, claimToken } = this.claimed;
    const { run_public_id, task_key } = task;
    this.verbs
      .progress({ run_public_id, task_key, claim_token: claimToken, ...frame })
      .catch((fault: Error) => this.log('debug', `a progress frame was lost: ${fault.message}`, this.name));
  }

  private async commit(body: CommitBody, again = true): Promise<void> {
    const { task, claimToken } = this.claimed;
    try {
      const bytes = commitBytes(task, claimToken, body);
      if (bytes.length > MOST_COMMIT_BYTES)
        throw new RangeError(`it is larger than ${MOST_COMMIT_BYTES} bytes of JSON`);
      const { task: settled } = await this.verbs.repeated(
        'commit',
        () => this.verbs.commit(bytes),
        this.insist,
      );
      this.log('debug', 'committed', { ...this.name, status: settled.status });
    } catch (fault) {
      if (again && isAboutTheResult(fault))
        return this.commit({ ...refusedResult(fault.message), ...keptMetadata(body, fault) }, false);
      const why = this.insist.aborted
        ? 'the runner closed before Nexus acknowledged it'
        : (fault as Error).message;
      this.log('error', `the result of a call could not be delivered: ${why}`, this.name);
    }
  }

  private get name(): Readonly<Record<string, unknown>> {
    const { run_public_id, task_key, tool_name } = this.claimed.task;
    return { run_public_id, task_key, tool_name };
  }
}

/** How a result is a fault, in words that everybody may read: never its content. Undefined for one that is fine. */
function faultOf({ outcome, is_error }: CommitBody): string | undefined {
  if (outcome === 'failed') return 'the call could not be run';
  return is_error === true ? 'the tool reported an error' : undefined;
}

/** The park stands, or the result is not even JSON: something else can be committed in its place. */
const isAboutTheResult = (fault: unknown): fault is Error =>
  fault instanceof TypeError ||
  fault instanceof RangeError ||
  (fault instanceof RefusedError && [413, 422].includes(fault.status) && fault.code !== 'result_unstorable');

/** Metadata is evidence (chapter 7): it goes along unless it is itself what was refused. */
function keptMetadata({ metadata }: CommitBody, fault: Error): CommitBody {
  const atFault = !(fault instanceof RefusedError) || fault.code === 'metadata_too_large';
  return metadata === undefined || atFault ? {} : { metadata };
}
