import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Database } from '../db/database.js';
import type { MemberCaller, PlatformCaller } from '../doors/caller.js';
import type { VerbInput } from '../doors/input.js';
import { refuse, refuseUntil } from '../errors/refusal.js';
import { recordAudit } from '../identity/audit.js';
import { isUnstorable } from '../kernel/json/scan.js';
import { Acceptance } from '../routing/acceptance.service.js';
import type { FrozenRun } from '../routing/frozen-run.js';
import { taskJson, type TaskRow } from '../routing/task-row.js';
import { AdjudicatedTasks, LOOK_AGAIN_MS, LOOKS } from './adjudicated-tasks.js';
import { type DecideJob, decideTask, expireResting } from './decide.sql.js';
import { SameTarget, TASK_PATH } from './same-target.js';
import type { AdjudicatedTask } from './same-target.sql.js';
import { approvalVerdict, denialVerdict, type Verdict } from './verdict.js';

const REASON_MAX = 1_024;

/** What is decided about the task as it was looked at; undefined where its announcement is still to be read. */
type Judgement = (task: AdjudicatedTask) => Promise<Verdict | undefined> | Verdict;

/** The human who decides: themselves, or as the administrator they are. */
type Decider = MemberCaller | PlatformCaller;

/**
 * People's decisions about calls that rest (chapter 6, Adjudication). Invariant: a resting call is decided once, by a person
 * who may, and what goes to its target is what that person was asked about.
 */
@Injectable()
export class Decisions {
  constructor(
    private readonly database: Database,
    private readonly tasks: AdjudicatedTasks,
    private readonly target: SameTarget,
    private readonly acceptance: Acceptance,
  ) {}

  /** `{task}`: on its way, failed where its target is gone, or resting again with what is announced now. */
  async approve(caller: Decider, input: VerbInput): Promise<object> {
    const { run, key } = await this.tasks.decidedBy(caller, input);
    const decider = { kind: 'human', memberId: caller.memberId } as const;
    const context = await this.target.contextOf(this.database, run, decider);
    return this.decide(caller, run, key, 'task.approved', async (task) => {
      const found = await this.target.find(task, 'human');
      if (found === undefined) return undefined;
      const call = { ...judgedCall(task), isOfAgent: task.of_agent };
      return approvalVerdict({ ...call, announced_sha256: task.announced_sha256 }, found, context);
    });
  }

  /** `{task}`, failed with the reason. */
  async deny(caller: Decider, input: VerbInput): Promise<object> {
    const { run, key } = await this.tasks.decidedBy(caller, input);
    const verdict = denialVerdict(caller.memberId, reasonOf(input));
    return this.decide(caller, run, key, 'task.denied', () => verdict);
  }

  private async decide(
    caller: Decider,
    run: FrozenRun,
    key: string,
    action: 'task.approved' | 'task.denied',
    judge: Judgement,
  ): Promise<object> {
    let first: AdjudicatedTask | undefined;
    for (let look = 1; look <= LOOKS; look += 1) {
      const task = await this.tasks.read(this.database, run, key);
      if (task.status !== 'needs_approval') throw refuse('not_awaiting_approval');
      if (task.is_due) {
        await this.expire(run, key);
        continue;
      }
      first ??= task;
      // it has come to rest with something else meanwhile: nobody was asked about that
      if (action === 'task.approved' && !isSameQuestion(first, task)) return { task: taskJson(task) };
      const verdict = await judge(task);
      const moved = verdict && (await this.move(caller, action, task, verdict));
      if (moved) {
        this.acceptance.announce([moved]);
        return { task: taskJson(moved) };
      }
      await pause(LOOK_AGAIN_MS);
    }
    throw refuseUntil('unavailable', 1, 'what the target announces is being replaced; try again');
  }

  /** Acts, with its entry in the audit where a person has decided; undefined where the facts are others now. */
  private move(
    { accountId, memberId: actorId }: Decider,
    action: 'task.approved' | 'task.denied',
    task: AdjudicatedTask,
    verdict: Verdict,
  ): Promise<TaskRow | undefined> {
    const { run_id, task_key, tool_name, generation, serving, announced_sha256: seen_sha256 } = task;
    const named = { account_id: accountId, run_id, task_key, generation, serving };
    const job: DecideJob = { ...named, ...verdict, is_denial: action === 'task.denied', seen_sha256 };
    return this.database.transaction(async (sql) => {
      const moved = await sql.row(decideTask, JSON.stringify([job]));
      if (moved && verdict.approval_origin === 'human') {
        const detail = { task_key, tool_name, generation: moved.generation, status: moved.status };
        await recordAudit(sql, { accountId, actorId, action, subjectId: run_id, detail });
      }
      return moved;
    });
  }

  /** A decision after the hold's end first settles the call; the next look finds that it rests no more. */
  private async expire({ accountId, id }: FrozenRun, key: string): Promise<void> {
    const expired = await this.database.row(expireResting, accountId, id, key);
    if (expired) this.acceptance.announce([expired]);
  }
}

const isSameQuestion = (first: AdjudicatedTask, now: AdjudicatedTask): boolean =>
  first.generation === now.generation && first.announced_sha256 === now.announced_sha256;

/** An accepted call as the approval stage reads it. */
export const judgedCall = ({ tool_input_text: inputText }: TaskRow) => ({
  path: TASK_PATH,
  inputText,
  input: JSON.parse(inputText) as Record<string, unknown>,
});

/** Why a person denies: absent, or a text that people read. */
function reasonOf(input: VerbInput): string | null {
  const { reason } = input.body.object;
  if (reason === undefined) return null;
  const isText = typeof reason === 'string' && reason.trim() !== '' && reason.length <= REASON_MAX;
  if (isText && !isUnstorable(JSON.stringify(reason))) return reason;
  throw refuse('validation_failed', `reason must be a string of 1 to ${REASON_MAX} characters, not blank`);
}
