import { backoffMs } from './backoff.js';
import type { BusLink } from './bus-link.js';
import type { Log } from './log.js';
import { isPassing, RefusedError } from './refused-error.js';
import type {
  AnnouncementBody,
  ClaimAnswer,
  CommitBody,
  ExecutorAnswer,
  InboxPage,
  ProgressFrame,
  TaskName,
} from './wire.js';

/** Which tries of a request that finds no answer are said aloud: the fourth, and then one in ten. */
const FIRST_SAID = 3;
const SAID_EVERY = 10;

/** The verbs of the executor plane, typed. Each call is one request; `repeated` makes it insist. */
export class ExecutorVerbs {
  constructor(
    private readonly link: BusLink,
    private readonly log: Log,
  ) {}

  /** `leaving` frees the executor at once for the next process. */
  describe(incarnationId: string, leaving = false): Promise<ExecutorAnswer> {
    return this.link.ask('describe', { incarnation_id: incarnationId, ...(leaving && { leaving }) });
  }

  announce(body: AnnouncementBody): Promise<ExecutorAnswer> {
    return this.link.ask('announce', body);
  }

  inbox(after?: InboxPage['pagination']['next_after']): Promise<InboxPage> {
    return this.link.ask('inbox', after ? { after, limit: 200 } : { limit: 200 });
  }

  claim(task: TaskName, claimToken: string): Promise<ClaimAnswer> {
    return this.link.ask('claim', named(task, claimToken));
  }

  claimStatus(task: TaskName, claimToken: string): Promise<{ claim: { active: boolean } }> {
    return this.link.ask('claim_status', named(task, claimToken));
  }

  extend(task: TaskName, claimToken: string, timeoutMs: number): Promise<ClaimAnswer> {
    return this.link.ask('extend', { ...named(task, claimToken), timeout_ms: timeoutMs });
  }

  /** `body` is what `commitBytes` wrote. */
  commit(body: Uint8Array): Promise<{ task: { status: string } }> {
    return this.link.askBytes('commit', body);
  }

  async progress(frame: ProgressFrame): Promise<void> {
    await this.link.ask('progress', { frame });
  }

  /**
   * Repeats `request` until Nexus answers it, taken or refused for good; across lost connections too. Throws the
   * refusal, or the signal's reason.
   */
  async repeated<Answer>(what: string, request: () => Promise<Answer>, signal: AbortSignal): Promise<Answer> {
    for (let attempt = 0; ; attempt += 1) {
      signal.throwIfAborted();
      try {
        return await request();
      } catch (fault) {
        if (!isPassing(fault)) throw fault;
        const retryAfterMs = fault instanceof RefusedError ? (fault.retryAfterMs ?? 0) : 0;
        const level = attempt % SAID_EVERY === FIRST_SAID ? 'warn' : 'debug';
        this.log(level, `${what}: ${(fault as Error).message}; trying again`, { attempt });
        await this.link.pause(Math.max(retryAfterMs, backoffMs(attempt)), signal);
      }
    }
  }
}

/** Writes a commit once, so that every repeat is the same bytes. Throws where the result is not JSON. */
export const commitBytes = (task: TaskName, claimToken: string, body: CommitBody): Uint8Array =>
  Buffer.from(JSON.stringify({ ...named(task, claimToken), ...body }));

const named = (task: TaskName, claimToken: string): object => ({
  run_public_id: task.run_public_id,
  task_key: task.task_key,
  claim_token: claimToken,
});
