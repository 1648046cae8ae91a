import { Injectable } from '@nestjs/common';
import { NodeEvents } from '../bus/node-events.js';
import type { TaskRow } from './task-row.js';
import { TaskWaits } from './task-waits.js';

/** Tells that tasks changed. Called after the change is committed, by whoever changed it. */
@Injectable()
export class TaskEvents {
  constructor(
    private readonly events: NodeEvents,
    private readonly waits: TaskWaits,
  ) {}

  /** A task was accepted, moved or settled: `row` is what it is now, which spares this node's waiters a read. */
  changed(row: TaskRow): void {
    this.waits.hand(row);
    const { run_id: run, task_key: key, settled_at } = row;
    this.events.publish('task', settled_at === null ? { run, key } : { run, key, settled: true });
  }
}
