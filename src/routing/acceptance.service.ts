import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { FrozenDeclaration } from '../assembly/frozen-declaration.js';
import type { Sql } from '../db/statement.js';
import type { MemberCaller } from '../doors/caller.js';
import { Metrics } from '../doors/metrics.js';
import { refuse, refuseUntil } from '../errors/refusal.js';
import { type AcceptParams, acceptTasks, diagnoseAcceptance, type TaskDraft } from './accept-tasks.sql.js';
import { DeclarationStore } from './declaration-store.js';
import { Dispatch } from './dispatch.js';
import type { FrozenRun } from './frozen-run.js';
import { PlaceFinder } from './place-finder.js';
import type { Step } from './step.js';
import { draftTask } from './task-draft.js';
import { TaskEvents } from './task-events.js';
import type { TaskRow } from './task-row.js';

/** How often, and after how long, a node looks again whose memory of an announcement is behind: half a second in all. */
const LOOKS = 25;
const LOOK_AGAIN_MS = 20;

const TAKEN = { code: '23505', constraint: 'tasks_pkey' };

/**
 * Accepts calls (chapter 5). Invariant: all steps become tasks in one statement, or none does; what a task was accepted
 * with never changes; no executor is addressed that was not eligible in that very statement.
 */
@Injectable()
export class Acceptance {
  constructor(
    private readonly declarations: DeclarationStore,
    private readonly finder: PlaceFinder,
    private readonly dispatch: Dispatch,
    private readonly events: TaskEvents,
    private readonly metrics: Metrics,
  ) {}

  /**
   * Accepts the steps on a run that the caller sees; answers the tasks in the order of the steps. `declaration` is given
   * where it is not stored yet. Throws the refusals of chapter 5; `unavailable` when announcements change all the time.
   */
  async accept(
    sql: Sql,
    caller: MemberCaller,
    run: FrozenRun,
    steps: readonly Step[],
    declaration?: FrozenDeclaration,
  ): Promise<TaskRow[]> {
    const started = performance.now();
    const frozen = declaration ?? (await this.declarationOf(sql, run));
    for (let look = 1; look <= LOOKS; look += 1) {
      const drafts = await this.draft(sql, caller, run, frozen, steps);
      if (drafts) {
        const params: AcceptParams = [
          run.accountId,
          run.id,
          caller.credentialId,
          caller.memberId,
          JSON.stringify(drafts),
        ];
        const rows = await insert(sql, params, drafts);
        if (rows.length > 0) {
          this.metrics.observe('accept', (performance.now() - started) / 1_000);
          return rows;
        }
        await diagnose(sql, params, steps);
      }
      await pause(LOOK_AGAIN_MS);
    }
    throw refuseUntil('unavailable', 1, 'the announcement addressed is being replaced; try again');
  }

  /** Tells whoever waits: nodes, followers and executors. Called once the tasks are committed. */
  announce(rows: readonly TaskRow[]): void {
    for (const row of rows) {
      if (row.settled_at !== null) this.metrics.settled(row.status);
      this.events.changed(row.run_id, row.task_key, row);
    }
    this.dispatch.available(rows);
  }

  private async declarationOf(sql: Sql, run: FrozenRun): Promise<FrozenDeclaration> {
    const digest = run.declarationDigest;
    const stored = digest === null ? undefined : await this.declarations.get(run.accountId, digest, sql);
    if (!stored) throw refuse('execution_details_pruned');
    return stored.frozen;
  }

  private async draft(
    sql: Sql,
    caller: MemberCaller,
    run: FrozenRun,
    declaration: FrozenDeclaration,
    steps: readonly Step[],
  ): Promise<TaskDraft[] | undefined> {
    const context = { declaration, defaultRunnerId: run.defaultRunnerId, policy: run.policy, caller };
    const drafts: TaskDraft[] = [];
    for (const [ordinal, step] of steps.entries()) {
      const place = await this.finder.find(sql, caller, run, declaration, step);
      if (!place) return undefined;
      drafts.push(draftTask(step, ordinal, place, context));
    }
    return drafts;
  }
}

async function insert(sql: Sql, params: AcceptParams, drafts: readonly TaskDraft[]): Promise<TaskRow[]> {
  try {
    return await sql.rows(acceptTasks, ...params);
  } catch (fault) {
    const { code, constraint, detail } = fault as { code?: string; constraint?: string; detail?: string };
    if (code !== TAKEN.code || constraint !== TAKEN.constraint) throw fault;
    const key = drafts.map(({ task_key }) => task_key).find((taken) => detail?.includes(`, ${taken})`));
    throw refuse('key_taken', `the run has a task with the key ${key ?? ''}`.trimEnd());
  }
}

/** Throws why no row was inserted; returns when only an announcement has moved on since it was looked up. */
async function diagnose(sql: Sql, params: AcceptParams, steps: readonly Step[]): Promise<void> {
  const rows = await sql.rows(diagnoseAcceptance, ...params);
  const [first] = rows;
  if (!first) throw refuse('not_found');
  if (!first.is_live) throw refuse('unauthorized');
  if (first.is_pruned) throw refuse('execution_details_pruned');
  if (first.is_stopped) throw refuse('run_stopped');
  const unreachable = rows.find(({ may_reach }) => !may_reach);
  if (!unreachable) return;
  const path = steps[unreachable.ordinal]?.path ?? 'steps';
  throw unreachable.addressed_role === 'runner'
    ? refuse('runner_not_eligible', `${path} addresses no runner that is eligible`)
    : refuse('tool_not_served', `${path} addresses nobody who may serve it just now`);
}
