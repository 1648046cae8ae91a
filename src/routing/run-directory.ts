import { Injectable } from '@nestjs/common';
import { NodeEvents } from '../bus/node-events.js';
import { Database } from '../db/database.js';
import { statement } from '../db/statement.js';
import { refuse } from '../errors/refusal.js';
import { VersionedCache } from '../identity/versioned-cache.js';
import { isUuid } from '../kernel/names.js';
import { FrozenRun, frozenRunColumns, type FrozenRunRow } from './frozen-run.js';
import { sees, type Viewer } from './viewer.js';

const readFrozenRun = statement<[id: string], FrozenRunRow>(
  'run_read_frozen',
  `select ${frozenRunColumns('r', 'p')} from runs r join members p on p.id = r.principal_id where r.id = $1`,
);

/** Runs that a node remembers; each holds the rules of its policy. */
const REMEMBERED_RUNS = 10_000;

/** Frozen runs by id, remembered until one is stopped or pruned; and the one place that says who sees a run. */
@Injectable()
export class RunDirectory {
  private readonly cache: VersionedCache<FrozenRun>;

  constructor(
    private readonly database: Database,
    events: NodeEvents,
  ) {
    this.cache = new VersionedCache(events, REMEMBERED_RUNS, ['run']);
  }

  /** The run as far as this viewer may know: `not_found` for an id that is malformed, unknown or not theirs to see. */
  async seenBy(viewer: Viewer, id: unknown): Promise<FrozenRun> {
    const run = isUuid(id) ? await this.get(id) : undefined;
    if (!run || !sees(viewer, run)) throw refuse('not_found');
    return run;
  }

  /** As `seenBy`, and with its detail: `execution_details_pruned` once retention took that. */
  async detailSeenBy(viewer: Viewer, id: unknown): Promise<FrozenRun> {
    const run = await this.seenBy(viewer, id);
    if (run.isPruned) throw refuse('execution_details_pruned');
    return run;
  }

  /** Throws why the run, which was seen, has no such task: retention took it, or there never was one. */
  async refuseMissingTask(id: string): Promise<never> {
    const row = await this.database.row(readFrozenRun, id);
    throw refuse(row?.details_pruned_at ? 'execution_details_pruned' : 'not_found');
  }

  private get(id: string): Promise<FrozenRun | undefined> {
    return this.cache.get(id, async () => {
      const row = await this.database.row(readFrozenRun, id);
      return row && new FrozenRun(row);
    });
  }
}
