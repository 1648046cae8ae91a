import { writeJson } from '../db/json-text.js';
import type { EventStream } from './event-stream.js';
import type { TaskState } from './read-tasks.sql.js';
import { taskJson, type TaskRow } from './task-row.js';

/** Tasks read for one round of snapshots. */
const ROUND = 20;

/** How a follower reads its run. */
export interface FollowedRun {
  /** The state of all tasks, in order of acceptance. */
  states(): Promise<TaskState[]>;
  tasks(keys: readonly string[]): Promise<TaskRow[]>;
}

/**
 * Sends one reader the snapshots of a run's tasks. Level-triggered: it compares what is with what it sent, so that an event
 * that was lost, came twice or came late costs a read and nothing else.
 */
export class RunFollower {
  private readonly sent = new Map<string, string>();
  private readonly changed = new Set<string>();
  private isSending = false;

  constructor(
    private readonly run: FollowedRun,
    private readonly stream: EventStream,
  ) {}

  /** Looks at the whole run: what differs from what was sent is sent. */
  async look(): Promise<void> {
    for (const state of await this.run.states()) {
      if (this.sent.get(state.task_key) !== versionOf(state)) this.changed.add(state.task_key);
    }
    await this.send();
  }

  /** A task is said to have changed. */
  async touch(key: string): Promise<void> {
    this.changed.add(key);
    await this.send();
  }

  /** A progress frame; dropped while the reader is behind. */
  async progress(json: string): Promise<void> {
    if (!this.stream.isBehind) await this.stream.send('progress', json);
  }

  /** One sender at a time; what changes meanwhile is sent by it. */
  private async send(): Promise<void> {
    if (this.isSending) return;
    this.isSending = true;
    try {
      while (this.changed.size > 0 && !this.stream.isClosed) {
        const keys = [...this.changed].slice(0, ROUND);
        for (const key of keys) this.changed.delete(key);
        await this.sendSnapshots(keys);
      }
    } finally {
      this.isSending = false;
    }
  }

  private async sendSnapshots(keys: readonly string[]): Promise<void> {
    for (const row of await this.run.tasks(keys)) {
      const version = versionOf(row);
      if (this.sent.get(row.task_key) === version) continue;
      this.sent.set(row.task_key, version);
      await this.stream.send('task', writeJson({ task: taskJson(row) }), `${row.task_key}.${version}`);
    }
  }
}

function versionOf({ generation, status, claimed_at, deadline_at, settled_at }: TaskState): string {
  const times = [claimed_at, deadline_at, settled_at].map((time) => time?.getTime() ?? 0);
  return [generation, status, ...times].join('.');
}
