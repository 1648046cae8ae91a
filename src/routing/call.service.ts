import { Injectable } from '@nestjs/common';
import { KeyedDatabase } from '../db/keyed-database.js';
import type { Sql } from '../db/statement.js';
import { Answer } from '../doors/answer.js';
import type { MemberCaller } from '../doors/caller.js';
import { hasIdempotencyKey, Idempotency } from '../doors/idempotency.js';
import type { VerbInput } from '../doors/input.js';
import type { VerbDeclaration } from '../doors/verb.js';
import { JsonText } from '../db/json-text.js';
import { refuse } from '../errors/refusal.js';
import { memberTexts } from '../kernel/json/scan.js';
import { readAddressCall } from './address-call.js';
import { Acceptance } from './acceptance.service.js';
import type { FrozenRun } from './frozen-run.js';
import { RunCreation } from './run-creation.service.js';
import { RunDirectory } from './run-directory.js';
import { readStep, type Step } from './step.js';
import { taskJson, type TaskRow } from './task-row.js';
import { Tasks } from './tasks.service.js';
import { viewerOf } from './viewer.js';
import { WAIT_MAX_MS, waitMsOf } from './wait-request.js';

/** Which task a call became: what a repeat of it finds again, which then reads the row. */
interface Accepted {
  readonly run_public_id: string;
  readonly task_key: string;
  readonly row?: TaskRow;
}

/**
 * A member's call that is waited for (chapter 8): one step, or the tool at an address, is accepted, in a new run when none
 * is named, and the answer is its task when it settles or the wait ends. A repeat under its key waits for the same task.
 */
@Injectable()
export class Calls {
  constructor(
    private readonly keyed: KeyedDatabase,
    private readonly idempotency: Idempotency,
    private readonly directory: RunDirectory,
    private readonly creation: RunCreation,
    private readonly acceptance: Acceptance,
    private readonly tasks: Tasks,
  ) {}

  /** `{task}` of `step`, or of `address` and `input`. Throws the refusals of acceptance. */
  call(verb: VerbDeclaration, caller: MemberCaller, input: VerbInput): Promise<object> {
    const { step, address } = input.body.object;
    if (address === undefined && step === undefined) throw refuse('parameter_missing', 'step is required');
    if (step === undefined) return this.callAddress(verb, caller, input);
    if (address !== undefined) {
      throw refuse('validation_failed', 'the body must carry either step or address, not both');
    }
    const parsed = readStep(step, memberTexts(input.body.text).get('step') ?? '{}', 'step');
    return this.callStep(verb, caller, input, parsed);
  }

  /** `{task}` of the tool at `address`. Throws the refusals of acceptance and of `MeshAddresses`. */
  callAddress(verb: VerbDeclaration, caller: MemberCaller, input: VerbInput): Promise<object> {
    const { object, text } = input.body;
    return this.callStep(verb, caller, input, readAddressCall(object, text, { path: '' }));
  }

  private async callStep(
    verb: VerbDeclaration,
    caller: MemberCaller,
    input: VerbInput,
    parsed: Step,
  ): Promise<object> {
    const { run_public_id: runId } = input.body.object;
    const waitMs = waitMsOf(input, WAIT_MAX_MS);
    const run = runId === undefined ? undefined : await this.directory.detailSeenBy(viewerOf(caller), runId);
    const isPlain = run !== undefined && !hasIdempotencyKey(input);
    const accepted = isPlain
      ? await this.acceptOn(this.keyed, caller, run, parsed)
      : await this.acceptOnce(verb, caller, input, run, parsed);
    const { run_public_id, task_key, row: known } = accepted;
    const row = await this.tasks.settled(
      { accountId: caller.accountId, id: run_public_id },
      task_key,
      waitMs,
      known,
    );
    return { task: taskJson(row) };
  }

  /** On a run that is there: one statement. */
  private async acceptOn(sql: Sql, caller: MemberCaller, run: FrozenRun, step: Step): Promise<Accepted> {
    const rows = await this.acceptance.accept(sql, caller, run, [step]);
    this.acceptance.announce(rows);
    return { ...identityOf(rows), ...(rows[0] && { row: rows[0] }) };
  }

  private async acceptOnce(
    verb: VerbDeclaration,
    caller: MemberCaller,
    input: VerbInput,
    run: FrozenRun | undefined,
    step: Step,
  ): Promise<Accepted> {
    let rows: TaskRow[] = [];
    const { body } = await this.idempotency.once(verb, caller, input, async (sql) => {
      rows = run
        ? await this.acceptance.accept(sql, caller, run, [step])
        : (await this.creation.make(sql, caller, { steps: [step] })).tasks;
      return new Answer(identityOf(rows), 200);
    });
    this.acceptance.announce(rows);
    return body instanceof JsonText ? (JSON.parse(body.text) as Accepted) : (body as Accepted);
  }
}

function identityOf(rows: readonly TaskRow[]): Accepted {
  const [row] = rows;
  if (!row) throw new Error('A step was accepted and left no task');
  return { run_public_id: row.run_id, task_key: row.task_key };
}
