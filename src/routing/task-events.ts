import { Injectable } from '@nestjs/common';
import { NodeEvents } from '../bus/node-events.js';
import { isFinal } from '../kernel/task-status.js';
import type { TaskRow } from './task-row.js';
import { TaskWaits } from './task-waits.js';

/** Tells that tasks changed. Called after the change is committed, by whoever changed it. */
@Injectable()
export class TaskEvents {
  constructor(
    private readonly events: NodeEvents,
    private readonly waits: TaskWaits,
  ) {}

  /** A task was accepted, moved or settled; `row` as it is now spares this node's waiters a read. */
  changed(run: string, key: string, row?: TaskRow): void {
    if (row && isFinal(row.status)) this.waits.hand(row);
    this.events.publish('task', { run, key });
  }
}
