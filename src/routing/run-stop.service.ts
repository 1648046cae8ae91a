import { Injectable } from '@nestjs/common';
import { NodeEvents } from '../bus/node-events.js';
import { Database } from '../db/database.js';
import { Metrics } from '../doors/metrics.js';
import { refuse } from '../errors/refusal.js';
import { Dispatch } from './dispatch.js';
import { RunDirectory } from './run-directory.js';
import { Runs } from './runs.service.js';
import { cancelOpenTasks, markStopped } from './stop-run.sql.js';
import { TaskEvents } from './task-events.js';
import type { Viewer } from './viewer.js';

/**
 * Stops runs (chapter 6, Adjudication). Invariant: once it is answered the run has no open task and accepts none. Stopping
 * again answers the same.
 */
@Injectable()
export class RunStop {
  constructor(
    private readonly database: Database,
    private readonly directory: RunDirectory,
    private readonly runs: Runs,
    private readonly dispatch: Dispatch,
    private readonly nodes: NodeEvents,
    private readonly events: TaskEvents,
    private readonly metrics: Metrics,
  ) {}

  /** `{run}`. Throws `not_found` and `execution_details_pruned`. */
  async stop(viewer: Viewer, id: unknown): Promise<object> {
    const run = await this.directory.detailSeenBy(viewer, id);
    const { canceled, answer } = await this.database.transaction(async (sql) => {
      if (!(await sql.row(markStopped, run.accountId, run.id))) throw refuse('execution_details_pruned');
      const rows = await sql.rows(cancelOpenTasks, run.accountId, run.id);
      return { canceled: rows, answer: await this.runs.show(sql, run.accountId, run.id) };
    });
    this.nodes.publish('run', { id: run.id });
    this.metrics.settled('canceled', canceled.length);
    for (const row of canceled) {
      this.events.changed(row);
      this.dispatch.canceled(row);
    }
    return answer;
  }
}
