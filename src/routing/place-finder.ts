import { Injectable } from '@nestjs/common';
import { AnnouncementDirectory } from '../announcement/announcement-directory.js';
import { isForModels } from '../announcement/for-models.js';
import type { FrozenDeclaration } from '../assembly/frozen-declaration.js';
import type { AccountId } from '../db/account-id.js';
import { type Sql, statement } from '../db/statement.js';
import { mayReach } from './accept-tasks.sql.js';
import type { CallAuthor } from './call-author.js';
import type { FrozenRun } from './frozen-run.js';
import { isGivenToPool, isOverridableName } from './pool.sql.js';
import type { DirectStep } from './step.js';
import {
  addressOf,
  kernelPlace,
  namedPlace,
  type Place,
  runnerPlace,
  type Serving,
} from './where-it-goes.js';

const readConversationDefault = statement<[conversationId: string], { default_runner_id: string | null }>(
  'conversation_read_default',
  'select default_runner_id from conversations where id = $1',
);

/**
 * Who announces a name for this principal: its own application, eligible or not, and the eligible providers. A caller who
 * is not the principal reaches only providers that are eligible for both. A name of the kernel's is the providers' alone, and
 * only where the account gave it to them.
 */
const readServing = statement<
  [accountId: AccountId, principalId: string, callerId: string, toolName: string],
  { id: string; kind: 'agent_application' | 'tool_provider'; version: string; eligible: boolean }
>(
  'accept_read_serving',
  `select e.id, e.kind, a.version, ${mayReach('e', 'm', 'c')} as eligible
   from announcements a
   join executors e on e.id = a.executor_id and e.status = 'active' and e.kind in ('agent_application', 'tool_provider')
   join members m on m.id = $2 and m.account_id = $1
   join members c on c.id = $3 and c.account_id = $1
   where a.account_id = $1 and a.tool_names @> array[$4::text] and case e.kind
     when 'tool_provider' then ${isGivenToPool('$1', '$4::text')}
     else e.agent_id = m.id and not ${isOverridableName('$4::text')} end
   order by e.id`,
);

const readRunnerEligible = statement<
  [accountId: AccountId, principalId: string, callerId: string, runnerId: string],
  { eligible: boolean }
>(
  'accept_read_runner_eligible',
  `select ${mayReach('e', 'm', 'c')} as eligible
   from executors e
   join members m on m.id = $2 and m.account_id = $1
   join members c on c.id = $3 and c.account_id = $1
   where e.id = $4 and e.account_id = $1 and e.kind = 'runner'`,
);

/**
 * Looks up what the rules of `where-it-goes` ask for. What it finds may be a moment old: acceptance holds only if the
 * statement that inserts finds the executor eligible and its announcement at the same version.
 */
@Injectable()
export class PlaceFinder {
  constructor(private readonly announcements: AnnouncementDirectory) {}

  /** Where a step goes. Throws the refusals of chapter 5; undefined when this node's memory is behind the database. */
  async find(
    sql: Sql,
    author: CallAuthor,
    run: FrozenRun,
    declaration: FrozenDeclaration,
    step: DirectStep,
  ): Promise<Place | undefined> {
    const asksDefault = step.kind === 'tool' && step.route !== undefined && step.route.runnerId === undefined;
    const defaultRunnerId = asksDefault ? await this.currentDefault(sql, run) : null;
    const address = addressOf(step, { declaration, isContinuation: run.isContinuation }, defaultRunnerId);
    if (address.to === 'kernel') return kernelPlace(address.tool);
    return address.to === 'runner'
      ? this.atRunner(sql, author, run, step, address)
      : this.byName(sql, author, run, step, address.toolName);
  }

  /** The conversation's default as it stands now, or the run's own where the run has no conversation (chapter 5). */
  private async currentDefault(sql: Sql, run: FrozenRun): Promise<string | null> {
    if (run.conversationId === null) return run.defaultRunnerId;
    return (await sql.row(readConversationDefault, run.conversationId))?.default_runner_id ?? null;
  }

  /** A tool that is there is presumed eligible: the inserting statement decides. Only a refusal asks first, to conceal. */
  private async atRunner(
    sql: Sql,
    author: CallAuthor,
    run: FrozenRun,
    step: DirectStep,
    { runnerId, toolName }: { runnerId: string; toolName: string },
  ): Promise<Place> {
    const known = await this.announcements.get(runnerId);
    const announcement = known?.accountId === run.accountId ? known : undefined;
    const tool = announcement?.tools.get(toolName);
    const isCallable =
      announcement !== undefined &&
      tool !== undefined &&
      (author.kind !== 'agent' || isForModels(tool, announcement));
    const presumed =
      isCallable ||
      (await sql.row(readRunnerEligible, run.accountId, run.principalId, author.memberId, runnerId))
        ?.eligible === true;
    return runnerPlace(step, toolName, { announcement, eligible: presumed }, author.kind);
  }

  private async byName(
    sql: Sql,
    author: CallAuthor,
    run: FrozenRun,
    step: DirectStep,
    toolName: string,
  ): Promise<Place | undefined> {
    const rows = await sql.rows(readServing, run.accountId, run.principalId, author.memberId, toolName);
    const serving = await Promise.all(
      rows.map(async ({ id, kind, version, eligible: isEligible }) => {
        const announcement = await this.announcements.get(id);
        return announcement?.version === Number(version)
          ? { kind, serving: { executorId: id, announcement, eligible: isEligible } satisfies Serving }
          : undefined;
      }),
    );
    const current = serving.flatMap((found) => found ?? []);
    if (current.length < rows.length) return undefined;
    const ofKind = (kind: string): Serving[] =>
      current.flatMap((found) => (found.kind === kind ? [found.serving] : []));
    const role = step.kind === 'tool' ? step.role : undefined;
    const [application] = role === 'tool_provider' ? [] : ofKind('agent_application');
    const providers = role === 'agent_application' ? [] : ofKind('tool_provider');
    return namedPlace(step, toolName, { application, providers }, author.kind);
  }
}
