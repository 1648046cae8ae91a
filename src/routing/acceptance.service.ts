import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { FrozenDeclaration } from '../assembly/frozen-declaration.js';
import { KeyedDatabase } from '../db/keyed-database.js';
import { Lane } from '../db/lane.js';
import type { Sql } from '../db/statement.js';
import type { MemberCaller } from '../doors/caller.js';
import { Metrics } from '../doors/metrics.js';
import { refuse, refuseUntil } from '../errors/refusal.js';
import {
  type AcceptJob,
  acceptTasks,
  diagnoseAcceptance,
  draftsJson,
  type TaskDraft,
} from './accept-tasks.sql.js';
import type { CallAuthor } from './call-author.js';
import { calledStep } from './called-tool.js';
import { DeclarationStore } from './declaration-store.js';
import { Deliveries, type DeliveryClaim } from './deliveries.js';
import { Dispatch } from './dispatch.js';
import type { FrozenRun } from './frozen-run.js';
import { KernelWork } from './kernel-work.js';
import { MeshAddresses } from './mesh-addresses.js';
import { PlaceFinder } from './place-finder.js';
import type { Step } from './step.js';
import { draftTask } from './task-draft.js';
import { TaskEvents } from './task-events.js';
import type { TaskRow } from './task-row.js';
import type { Place } from './where-it-goes.js';

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
  private readonly lane: Lane<AcceptJob, TaskRow[]>;
  /** By what claim an accepted call is to be delivered, once its acceptance is committed. */
  private readonly claims = new WeakMap<TaskRow, DeliveryClaim>();

  constructor(
    private readonly keyed: KeyedDatabase,
    private readonly declarations: DeclarationStore,
    private readonly finder: PlaceFinder,
    private readonly addresses: MeshAddresses,
    private readonly dispatch: Dispatch,
    private readonly deliveries: Deliveries,
    private readonly kernelWork: KernelWork,
    private readonly events: TaskEvents,
    private readonly metrics: Metrics,
  ) {
    this.lane = new Lane({
      name: acceptTasks.name,
      keyOf: ({ run_id, drafts }) => `${run_id}/${drafts[0]?.task_key ?? ''}`,
      bytesOf: ({ drafts }) => drafts.reduce((bytes, { tool_input }) => bytes + tool_input.length, 0),
      flush: (jobs) => insert(keyed, jobs),
    });
  }

  /**
   * Accepts the steps on a run that the caller sees; answers the tasks in the order of the steps. Outside a transaction
   * (`sql` is the keyed database) requests that come together share a statement. `declaration` is given where it is not
   * stored yet, `author` where the calls count for somebody else. Throws the refusals of chapter 5; `unavailable` when announcements change all the time.
   */
  async accept(
    sql: Sql,
    caller: MemberCaller,
    run: FrozenRun,
    steps: readonly Step[],
    declaration?: FrozenDeclaration,
    author: CallAuthor = caller,
  ): Promise<TaskRow[]> {
    const started = performance.now();
    const frozen = declaration ?? (await this.declarationOf(sql, run));
    for (let look = 1; look <= LOOKS; look += 1) {
      const claims = new Map<string, DeliveryClaim>();
      const drafts = await this.draft(sql, author, run, frozen, steps, claims);
      if (drafts) {
        const job = {
          account_id: run.accountId,
          run_id: run.id,
          credential_id: caller.credentialId,
          caller_id: caller.memberId,
          author_id: author.memberId,
          of_agent: author.kind === 'agent',
          drafts,
        };
        const rows = await this.insert(sql, job);
        if (rows.length > 0) {
          this.metrics.observe('accept', (performance.now() - started) / 1_000);
          for (const row of rows) {
            const claim = claims.get(row.task_key);
            if (claim && row.claimed_by !== null) this.claims.set(row, claim);
          }
          return rows;
        }
        await diagnose(sql, job, steps);
      }
      await pause(LOOK_AGAIN_MS);
    }
    throw refuseUntil('unavailable', 1, 'the announcement addressed is being replaced; try again');
  }

  /** Tells whoever waits: nodes, followers, executors, the kernel itself. Called once the tasks are committed. */
  announce(rows: readonly TaskRow[]): void {
    for (const row of rows) {
      if (row.settled_at !== null) this.metrics.settled(row.status);
      this.events.changed(row);
      const claim = this.claims.get(row);
      if (claim) this.deliveries.deliver(row, claim);
    }
    this.dispatch.available(rows);
    this.kernelWork.take(rows);
  }

  /** The tasks of the request; none where the statement did not hold. Throws `key_taken`. */
  private async insert(sql: Sql, job: AcceptJob): Promise<TaskRow[]> {
    try {
      if (sql === this.keyed) return await this.lane.run(job);
      return (await insert(sql, [job]))[0] ?? [];
    } catch (fault) {
      const { code, constraint, detail } = fault as { code?: string; constraint?: string; detail?: string };
      if (code !== TAKEN.code || constraint !== TAKEN.constraint) throw fault;
      const key = job.drafts.map(({ task_key }) => task_key).find((taken) => detail?.includes(`, ${taken})`));
      throw refuse('key_taken', `the run has a task with the key ${key ?? ''}`.trimEnd());
    }
  }

  private async declarationOf(sql: Sql, run: FrozenRun): Promise<FrozenDeclaration> {
    const digest = run.declarationDigest;
    const stored = digest === null ? undefined : await this.declarations.get(run.accountId, digest, sql);
    if (!stored) throw refuse('execution_details_pruned');
    return stored.frozen;
  }

  private async draft(
    sql: Sql,
    author: CallAuthor,
    run: FrozenRun,
    declaration: FrozenDeclaration,
    steps: readonly Step[],
    claims: Map<string, DeliveryClaim>,
  ): Promise<TaskDraft[] | undefined> {
    const context = { declaration, defaultRunnerId: run.defaultRunnerId, policy: run.policy, author };
    const drafts: TaskDraft[] = [];
    for (const [ordinal, asked] of steps.entries()) {
      const called = calledStep(asked, declaration);
      const step =
        called.kind === 'address' ? await this.addresses.becomes(sql, author, run, called) : called;
      const place = await this.finder.find(sql, author, run, declaration, step);
      if (!place) return undefined;
      const draft = draftTask(step, ordinal, place, context);
      const claim = await this.claimFor(author, run, draft, place);
      if (claim) claims.set(draft.task_key, claim);
      drafts.push(
        claim ? { ...draft, claim_token_sha256: claim.tokenSha256, claim_epoch: claim.epoch } : draft,
      );
    }
    return drafts;
  }

  /**
   * Of a call that goes to an executor's own subject. The kernel accepts several requests in one transaction, each of which
   * would hold an executor against the others: its calls are claimed once they are committed.
   */
  private async claimFor(
    author: CallAuthor,
    { accountId }: FrozenRun,
    { status, tool_input: inputText }: TaskDraft,
    { delivery, executorId }: Place,
  ): Promise<DeliveryClaim | undefined> {
    if (delivery !== 'serve' || executorId === null || status !== 'dispatched') return undefined;
    return author.kind === 'kernel'
      ? undefined
      : this.deliveries.claimFor({ accountId, executorId, inputText });
  }
}

/** The tasks of each request, in the order of its steps. */
async function insert(sql: Sql, jobs: readonly AcceptJob[]): Promise<TaskRow[][]> {
  const rows = new Map<string, TaskRow>();
  for (const row of await sql.rows(acceptTasks, draftsJson(jobs)))
    rows.set(`${row.run_id}/${row.task_key}`, row);
  return jobs.map(({ run_id, drafts }) =>
    drafts.flatMap(({ task_key }) => rows.get(`${run_id}/${task_key}`) ?? []),
  );
}

/** Throws why no row was inserted; returns when only an announcement has moved on since it was looked up. */
async function diagnose(sql: Sql, job: AcceptJob, steps: readonly Step[]): Promise<void> {
  const { account_id, run_id, credential_id, caller_id, author_id, drafts } = job;
  const rows = await sql.rows(
    diagnoseAcceptance,
    account_id,
    run_id,
    credential_id,
    caller_id,
    author_id,
    JSON.stringify(drafts),
  );
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
