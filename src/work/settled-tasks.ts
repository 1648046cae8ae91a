import { Injectable } from '@nestjs/common';
import { Metrics } from '../doors/metrics.js';
import { TaskEvents } from '../routing/task-events.js';
import type { TaskRow } from '../routing/task-row.js';

/** Tells nodes, followers and metrics that tasks became final. Called once that is committed. */
@Injectable()
export class SettledTasks {
  constructor(
    private readonly events: TaskEvents,
    private readonly metrics: Metrics,
  ) {}

  announce(rows: readonly TaskRow[]): void {
    for (const row of rows) {
      this.metrics.settled(row.status);
      this.events.changed(row);
    }
  }
}
