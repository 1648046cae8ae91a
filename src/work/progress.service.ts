import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { NodeEvents } from '../bus/node-events.js';
import type { ExecutorCaller } from '../doors/caller.js';
import type { VerbInput } from '../doors/input.js';
import { ClaimStatus } from './claim-status.service.js';
import { readFrame } from './progress-frame.js';
import { nameOf } from './task-claim.js';

/** At most one frame in this time is shown for each task (chapter 6, Progress). */
const PACE_MS = 250;

/**
 * Shows progress to whoever follows the run (chapter 6). Invariant: a frame is its claimant's, is never stored and never
 * carries a token. Frames that come too fast, or for a settled task, are dropped: progress is worth no refusal.
 */
@Injectable()
export class Progress {
  /** When a frame of each task was last shown, by any node. */
  private readonly shownAt = new LRUCache<string, number>({ max: 50_000 });

  constructor(
    private readonly claims: ClaimStatus,
    private readonly events: NodeEvents,
  ) {
    events.on('progress', ({ run, key }) => {
      this.shownAt.set(nameOf({ run_id: run, task_key: key }), performance.now());
    });
  }

  /** Throws `frame_too_large`, `not_found` and `not_claimant`. */
  async show(caller: ExecutorCaller, input: VerbInput): Promise<object> {
    const { claim, shown } = readFrame(caller, input.body);
    const isActive = await this.claims.isActive(claim);
    const last = this.shownAt.get(nameOf(claim)) ?? -Infinity;
    if (isActive && performance.now() - last >= PACE_MS) {
      this.events.publish('progress', { run: claim.run_id, key: claim.task_key, frame: shown });
    }
    return {};
  }
}
