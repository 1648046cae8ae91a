import { Injectable } from '@nestjs/common';
import { Database } from '../db/database.js';
import type { ExecutorCaller } from '../doors/caller.js';
import { refuse } from '../errors/refusal.js';
import { Presence } from '../identity/presence.js';
import { leaveSeat, readDescription, takeSeat } from './describe.sql.js';
import { describeExecutor, type ExecutorDescription } from './executor-description.js';
import type { Incarnation } from './incarnation.js';

/**
 * Tells an executor who it is, and keeps the seat of the one process that speaks for it (chapter 1). Invariant: of the
 * processes that name an incarnation at most one is answered; who names none is not guarded.
 */
@Injectable()
export class DescriptionService {
  constructor(
    private readonly database: Database,
    private readonly presence: Presence,
  ) {}

  /** Throws `executor_in_use` while another incarnation holds the seat, `unauthorized` when the epoch has passed. */
  async describe(caller: ExecutorCaller, incarnation: Incarnation | undefined): Promise<ExecutorDescription> {
    const { accountId, executorId, epoch } = caller;
    if (!incarnation) {
      return this.present(await this.database.row(readDescription, accountId, executorId, epoch));
    }
    if (incarnation.leaving) {
      return this.present(await this.database.row(leaveSeat, accountId, executorId, epoch, incarnation.id));
    }
    const row = await this.database.row(takeSeat, accountId, executorId, epoch, incarnation.id);
    if (row && !row.seated) {
      throw refuse('executor_in_use', 'another incarnation of this executor was heard from within 12 s');
    }
    return this.present(row);
  }

  private present(row: Parameters<typeof describeExecutor>[0] | undefined): ExecutorDescription {
    if (!row) throw refuse('unauthorized');
    return describeExecutor(row, this.presence);
  }
}
