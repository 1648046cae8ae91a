import { type BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { NodeEvents } from '../bus/node-events.js';
import { Database } from '../db/database.js';
import { Authenticator } from '../doors/authenticator.js';
import type { MemberCaller, PlatformCaller } from '../doors/caller.js';
import type { VerbInput } from '../doors/input.js';
import { EventStream } from './event-stream.js';
import type { FrozenRun } from './frozen-run.js';
import { readTasksByKey, readTaskStates } from './read-tasks.sql.js';
import { RunDirectory } from './run-directory.js';
import { RunFollower } from './run-follower.js';
import { viewerOf } from './viewer.js';

/** How often a stream shows that it lives, looks at its run for itself and asks whether its credential does. */
const BEAT_MS = 10_000;
/** How often it looks while events may be lost. */
const UNRELIABLE_MS = 1_000;

/**
 * The streams of those who follow a run (chapter 5). Invariant: a stream ends when its node shuts down and when its
 * credential is revoked or has expired; until then its reader has seen every task as it is.
 */
@Injectable()
export class RunFollowers implements BeforeApplicationShutdown {
  private readonly log = new Logger(RunFollowers.name);
  private readonly streams = new Set<EventStream>();
  private isStopping = false;

  constructor(
    private readonly database: Database,
    private readonly directory: RunDirectory,
    private readonly authenticator: Authenticator,
    private readonly events: NodeEvents,
  ) {}

  beforeApplicationShutdown(): void {
    this.isStopping = true;
    for (const stream of this.streams) stream.end();
  }

  /** Answers with the stream itself, once the caller is known to see the run; refusals are answered as ever. */
  async follow(caller: MemberCaller | PlatformCaller, input: VerbInput, reply: FastifyReply): Promise<void> {
    const run = await this.directory.detailSeenBy(viewerOf(caller), input.field('run_public_id'));
    reply.hijack();
    const stream = new EventStream(reply.raw);
    if (this.isStopping) return stream.end();
    this.streams.add(stream);
    stream.onClose(() => this.streams.delete(stream));
    this.serve(run, caller, stream);
  }

  private serve(run: FrozenRun, caller: MemberCaller | PlatformCaller, stream: EventStream): void {
    const follower = new RunFollower(
      {
        states: () => this.database.rows(readTaskStates, run.accountId, run.id),
        tasks: (keys) => this.database.rows(readTasksByKey, run.accountId, run.id, keys),
      },
      stream,
    );
    // a lost database leaves the stream as it is: the next beat looks again
    const tell = (told: Promise<void>): void => {
      told.catch((fault: Error) => this.log.warn(`a follower was not told: ${fault.message}`));
    };
    const prove = async (): Promise<void> => {
      if (!(await this.authenticator.isLive(caller))) stream.end();
    };
    const stops = [
      this.events.on('task', ({ run: id, key }) => {
        if (id === run.id) tell(prove().then(() => follower.touch(key)));
      }),
      this.events.on('progress', ({ run: id, key, frame }) => {
        if (id === run.id) tell(prove().then(() => follower.progress(progressJson(id, key, frame))));
      }),
      this.events.on('credential', ({ id }) => {
        if (id === caller.credentialId) tell(prove());
      }),
    ];
    const beat = setInterval(() => {
      stream.heartbeat();
      tell(prove().then(() => follower.look()));
    }, BEAT_MS);
    const look = setInterval(() => {
      if (!this.events.isReliable) tell(prove().then(() => follower.look()));
    }, UNRELIABLE_MS);
    stream.onClose(() => {
      clearInterval(beat);
      clearInterval(look);
      for (const stop of stops) stop();
    });
    tell(follower.look());
  }
}

/** A frame as it is shown: what the runner said, and never its claim token (chapter 6, Progress). */
function progressJson(run: string, key: string, frame: unknown): string {
  const { text_tail, structured } = (frame ?? {}) as { text_tail?: unknown; structured?: unknown };
  return JSON.stringify({ frame: { run_public_id: run, task_key: key, text_tail, structured } });
}
