import { Injectable } from '@nestjs/common';
import { type ApprovalMode, isLooser } from '../assembly/approval-mode.js';
import { AssemblyService } from '../assembly/assembly.service.js';
import { Profiles } from '../assembly/profile.service.js';
import { Database } from '../db/database.js';
import { newId } from '../db/ids.js';
import type { Sql } from '../db/statement.js';
import { Answer } from '../doors/answer.js';
import type { MemberCaller } from '../doors/caller.js';
import { Idempotency } from '../doors/idempotency.js';
import type { VerbInput } from '../doors/input.js';
import type { VerbDeclaration } from '../doors/verb.js';
import { refuse, Refusal } from '../errors/refusal.js';
import { recordAudit } from '../identity/audit.js';
import { isUuid } from '../kernel/names.js';
import { Acceptance } from '../routing/acceptance.service.js';
import { kernelAuthor } from '../routing/call-author.js';
import type { ConversationRow } from '../routing/conversation.sql.js';
import { Conversations } from '../routing/conversations.service.js';
import type { FrozenRun } from '../routing/frozen-run.js';
import { insertRun } from '../routing/insert-run.js';
import type { Step } from '../routing/step.js';
import type { TaskRow } from '../routing/task-row.js';
import { type Viewer, viewerOf } from '../routing/viewer.js';
import { type FirstWriteRow, readFirstWritesFrom, readRunsFrom } from './first-writes.sql.js';
import { restorationJson } from './restoration.js';
import { readRestorationRequest, type RestorationRequest } from './restoration-request.js';
import { readRestoration, recordRestoration, type RestorationTarget } from './restorations.sql.js';

/** The served name that every runner restores under (chapter 7). */
const RESTORE = 'checkpoint_restore';

/** Refusals of acceptance that concern one runner alone: the others are asked all the same. */
const UNAVAILABLE: ReadonlySet<string> = new Set(['runner_not_eligible', 'tool_not_served', 'invalid_json']);

/** What a runner left before its first write; no text where it left nothing, or was not touched. */
type Touched = Pick<FirstWriteRow, 'runner_id' | 'checkpoint_text'>;

/**
 * Owns restorations (chapter 7, Restore). Invariant: a restoration, its run and the calls of that run come to be in one
 * transaction; how far it has come is never stored, only read off its tasks. A checkpoint goes back to the runner that left
 * it, byte for byte, and nobody looks inside.
 */
@Injectable()
export class Restorations {
  constructor(
    private readonly database: Database,
    private readonly idempotency: Idempotency,
    private readonly conversations: Conversations,
    private readonly profiles: Profiles,
    private readonly assembly: AssemblyService,
    private readonly acceptance: Acceptance,
  ) {}

  /**
   * `{restoration}`. Who sees the conversation may start one: its principal, that agent's steward, an administrator. Throws
   * `not_found` for a run that is not of it, and `execution_details_pruned` once the evidence is not complete.
   */
  async start(verb: VerbDeclaration, caller: MemberCaller, input: VerbInput): Promise<Answer> {
    const conversation = await this.conversations.seenBy(
      viewerOf(caller),
      input.field('conversation_public_id'),
    );
    const request = readRestorationRequest(input);
    const tasks: TaskRow[] = [];
    const answer = await this.idempotency.once(verb, caller, input, async (sql) => {
      const touched = await touchedRunners(sql, conversation, request);
      const run = await this.makeRun(sql, caller, conversation);
      const targets: RestorationTarget[] = [];
      for (const runner of touched) targets.push(await this.call(sql, caller, run, runner, tasks));
      const id = newId();
      const { account_id: accountId } = conversation;
      const recorded = JSON.stringify(targets);
      await sql.rows(recordRestoration, accountId, id, conversation.id, request.fromRunId, run.id, recorded);
      const actorId = caller.memberId;
      await recordAudit(sql, { accountId, actorId, action: 'restoration.started', subjectId: id });
      return new Answer(await show(sql, conversation, id), 202);
    });
    this.acceptance.announce(tasks);
    return answer;
  }

  /** `{restoration}` as it stands now. Throws `execution_details_pruned` once retention took its tasks. */
  async one(viewer: Viewer, input: VerbInput): Promise<object> {
    const conversation = await this.conversations.seenBy(viewer, input.field('conversation_public_id'));
    const id = input.field('public_id');
    if (!isUuid(id)) throw refuse('not_found');
    return show(this.database, conversation, id);
  }

  /** The run that holds the calls: the principal's, with an empty declaration, under the policy of a run of theirs. */
  private async makeRun(sql: Sql, caller: MemberCaller, conversation: ConversationRow): Promise<FrozenRun> {
    const { account_id: accountId, principal_id: principalId } = conversation;
    const { configuration, approvalFloor } = await this.profiles.get({ accountId, memberId: principalId });
    const nothing = { text: '{}' };
    return insertRun(sql, caller, principalId, {
      conversationId: conversation.id,
      parentId: null,
      defaultRunnerId: null,
      declaration: await this.assembly.assemble(caller, {
        defaultRunnerId: null,
        configuration: nothing,
        sql,
      }),
      approvalMode: modeWithin(approvalFloor ?? 'bypass', configuration.approvalMode),
      approvalRulesText: configuration.approvalRulesText ?? '[]',
    });
  }

  /** Calls the runner, in the kernel's name: its task goes to `tasks`. */
  private async call(
    sql: Sql,
    caller: MemberCaller,
    run: FrozenRun,
    { runner_id, checkpoint_text }: Touched,
    tasks: TaskRow[],
  ): Promise<RestorationTarget> {
    const unavailable = { runner_id, task_key: null };
    if (checkpoint_text === null || checkpoint_text === 'null') {
      return { ...unavailable, error_key: 'no_checkpoint' };
    }
    const step = restoringStep(runner_id, checkpoint_text);
    try {
      tasks.push(...(await this.acceptance.accept(sql, caller, run, [step], undefined, kernelAuthor(run))));
      return { runner_id, task_key: runner_id, error_key: null };
    } catch (fault) {
      if (!(fault instanceof Refusal) || !UNAVAILABLE.has(fault.code)) throw fault;
      return { ...unavailable, error_key: fault.code };
    }
  }
}

/** The runners of the request, those that were touched first, by the time of their first write. */
async function touchedRunners(
  sql: Sql,
  conversation: ConversationRow,
  { fromRunId, runnerIds }: RestorationRequest,
): Promise<Touched[]> {
  const { account_id, id } = conversation;
  const runs = await sql.row(readRunsFrom, account_id, id, fromRunId);
  if (!runs?.is_there) throw refuse('not_found');
  if (runs.is_pruned) throw refuse('execution_details_pruned');
  const touched = await sql.rows(readFirstWritesFrom, account_id, id, fromRunId);
  if (!runnerIds) return touched;
  const untouched = runnerIds.filter((named) => !touched.some(({ runner_id }) => runner_id === named));
  return [
    ...touched.filter(({ runner_id }) => runnerIds.includes(runner_id)),
    ...untouched.map((runner_id) => ({ runner_id, checkpoint_text: null })),
  ];
}

/** The call's key is the runner's id: a run has one call for each. */
const restoringStep = (runnerId: string, checkpointText: string): Step => ({
  kind: 'tool',
  path: runnerId,
  name: RESTORE,
  key: runnerId,
  timeoutMs: undefined,
  inputText: `{"checkpoint":${checkpointText}}`,
  input: { checkpoint: JSON.parse(checkpointText) as unknown },
  route: { runnerId },
});

const modeWithin = (floor: ApprovalMode, mode: ApprovalMode = floor): ApprovalMode =>
  isLooser(mode, floor) ? floor : mode;

async function show(sql: Sql, { account_id, id }: ConversationRow, restorationId: string): Promise<object> {
  const [first, ...more] = await sql.rows(readRestoration, account_id, id, restorationId);
  if (!first) throw refuse('not_found');
  if (first.is_pruned) throw refuse('execution_details_pruned');
  return restorationJson([first, ...more]);
}
