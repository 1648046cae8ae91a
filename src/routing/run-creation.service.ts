import { Injectable } from '@nestjs/common';
import { AssemblyService } from '../assembly/assembly.service.js';
import { readConfiguration } from '../assembly/configuration-grammar.js';
import { Profiles } from '../assembly/profile.service.js';
import type { Sql } from '../db/statement.js';
import { Answer } from '../doors/answer.js';
import type { MemberCaller } from '../doors/caller.js';
import { Idempotency } from '../doors/idempotency.js';
import type { VerbInput } from '../doors/input.js';
import type { VerbDeclaration } from '../doors/verb.js';
import { refuse } from '../errors/refusal.js';
import { Acceptance } from './acceptance.service.js';
import { planContinuation, type RunPlan } from './continuation.js';
import { Conversations } from './conversations.service.js';
import { asStored, DeclarationStore } from './declaration-store.js';
import type { FrozenRun } from './frozen-run.js';
import { insertRun } from './insert-run.js';
import { RunDirectory } from './run-directory.js';
import { readRunRequest, type RunRequest } from './run-request.js';
import { Runs } from './runs.service.js';
import type { TaskRow } from './task-row.js';
import { viewerOf } from './viewer.js';

/**
 * Makes runs (chapter 5, Hosts). Invariant: declaration, candidates, default runner and approval policy are frozen in the
 * statement that makes the run, and its first steps are accepted in the same transaction or it is not made.
 */
@Injectable()
export class RunCreation {
  constructor(
    private readonly idempotency: Idempotency,
    private readonly assembly: AssemblyService,
    private readonly profiles: Profiles,
    private readonly conversations: Conversations,
    private readonly directory: RunDirectory,
    private readonly declarations: DeclarationStore,
    private readonly acceptance: Acceptance,
    private readonly runs: Runs,
  ) {}

  /** `{run}`. Throws the refusals of assembly and of acceptance, `approval_floor` and `route_mismatch`. */
  async create(verb: VerbDeclaration, caller: MemberCaller, input: VerbInput): Promise<Answer> {
    const request = readRunRequest(input);
    let tasks: TaskRow[] = [];
    const answer = await this.idempotency.once(verb, caller, input, async (sql) => {
      const made = await this.make(sql, caller, request);
      tasks = made.tasks;
      return new Answer(await this.runs.show(sql, caller.accountId, made.run.id), 201);
    });
    this.acceptance.announce(tasks);
    return answer;
  }

  /** Makes the run and accepts its steps in the caller's transaction; whoever commits announces the tasks. */
  async make(
    sql: Sql,
    caller: MemberCaller,
    request: RunRequest,
  ): Promise<{ readonly run: FrozenRun; readonly tasks: TaskRow[] }> {
    const plan = await (request.parentId === undefined
      ? this.planFresh(sql, caller, request)
      : this.planChild(sql, caller, request, request.parentId));
    const run = await insertRun(sql, caller, caller.memberId, plan);
    if (request.steps.length === 0) return { run, tasks: [] };
    const { frozen } = asStored(plan.declaration);
    return { run, tasks: await this.acceptance.accept(sql, caller, run, request.steps, frozen) };
  }

  private async planFresh(sql: Sql, caller: MemberCaller, request: RunRequest): Promise<RunPlan> {
    if (request.toolNames !== undefined) {
      throw refuse('validation_failed', 'tool_names narrows a parent: it needs parent_run_public_id');
    }
    const conversation =
      request.conversationId === undefined
        ? undefined
        : await this.conversations.ownedBy(sql, caller, request.conversationId);
    const { defaultRunnerId = conversation?.default_runner_id ?? null, configuration } = request;
    const declaration = await this.assembly.assemble(caller, { defaultRunnerId, configuration, sql });
    const profile = await this.profiles.get(caller);
    const sources = [
      ...(configuration ? [readConfiguration(configuration.text, 'configuration')] : []),
      profile.configuration,
    ];
    const given = <T>(values: (T | undefined)[]): T | undefined =>
      values.find((value) => value !== undefined);
    return {
      conversationId: conversation?.id ?? null,
      parentId: null,
      defaultRunnerId,
      declaration,
      approvalMode:
        given([request.approvalMode, ...sources.map(({ approvalMode }) => approvalMode)]) ??
        profile.approvalFloor ??
        'bypass',
      approvalRulesText:
        given([request.approvalRulesText, ...sources.map(({ approvalRulesText }) => approvalRulesText)]) ??
        '[]',
    };
  }

  private async planChild(
    sql: Sql,
    caller: MemberCaller,
    request: RunRequest,
    parentId: string,
  ): Promise<RunPlan> {
    const parent = await this.directory.detailSeenBy(viewerOf(caller), parentId);
    if (parent.principalId !== caller.memberId) throw refuse('not_found');
    const digest = parent.declarationDigest;
    const inherited =
      digest === null ? undefined : await this.declarations.get(parent.accountId, digest, sql);
    if (!inherited) throw refuse('execution_details_pruned');
    return planContinuation(request, parent, inherited);
  }
}
