import { Injectable, Logger } from '@nestjs/common';
import { AnnouncementDirectory } from '../announcement/announcement-directory.js';
import { ExecutorPush } from '../bus/executor-push.js';
import type { AccountId } from '../db/account-id.js';
import { Database } from '../db/database.js';
import { statement } from '../db/statement.js';
import { eligible } from '../identity/eligibility.sql.js';
import { ExecutorDirectory } from '../identity/executor-directory.js';
import { Deliveries } from './deliveries.js';
import type { TaskRow } from './task-row.js';

/** The members of a pool: every eligible provider that announces the name. */
const readPool = statement<
  [accountId: AccountId, principalId: string, toolName: string],
  { id: string; credential_epoch: number }
>(
  'dispatch_read_pool',
  `select e.id, e.credential_epoch
   from announcements a
   join executors e on e.id = a.executor_id and e.kind = 'tool_provider'
   join members m on m.account_id = a.account_id and m.id = $2
   where a.account_id = $1 and a.tool_names @> array[$3::text] and ${eligible('e', 'm')}`,
);

/** The application of an agent, which shows its approvals. */
const readApplication = statement<
  [accountId: AccountId, agentId: string],
  { id: string; credential_epoch: number }
>(
  'dispatch_read_application',
  `select e.id, e.credential_epoch from executors e
   where e.account_id = $1 and e.agent_id = $2 and e.status = 'active'`,
);

/** What of a task a push needs. */
type Pushed = Pick<TaskRow, 'run_id' | 'task_key' | 'kind' | 'tool_name' | 'account_id' | 'principal_id'> &
  Pick<TaskRow, 'status' | 'addressed_role' | 'addressed_id' | 'claimed_by'>;

type Canceled = Pick<TaskRow, 'account_id' | 'run_id' | 'task_key' | 'claimed_by'>;

/**
 * Tells executors over the bus that there is work, or none any more (chapter 6), and has it delivered to those that serve
 * (chapter 8). A push only brings a read forward: one that is lost loses nothing, so nothing here is waited for and no fault
 * reaches the caller.
 */
@Injectable()
export class Dispatch {
  private readonly log = new Logger(Dispatch.name);

  constructor(
    private readonly database: Database,
    private readonly executors: ExecutorDirectory,
    private readonly announcements: AnnouncementDirectory,
    private readonly deliveries: Deliveries,
    private readonly push: ExecutorPush,
  ) {}

  /** Pushes `work_available` for those tasks that wait to be claimed, or rest for a decision. */
  available(rows: readonly Pushed[]): void {
    for (const row of rows) {
      if (row.status === 'needs_approval') this.tell(this.pushApproval(row));
      const isWaiting = row.status === 'dispatched' && row.claimed_by === null;
      if (!isWaiting || row.addressed_role === 'kernel') continue;
      this.tell(
        row.addressed_id === null ? this.pushToPool(row) : this.pushToExecutor(row.addressed_id, row),
      );
    }
  }

  /** Pushes `work_canceled` to the claimant, where there is one. */
  canceled(row: Canceled): void {
    if (row.claimed_by === null) return;
    this.tell(this.pushCanceled(row.claimed_by, row));
  }

  private tell(pushed: Promise<void>): void {
    pushed.catch((fault: Error) => this.log.warn(`work was not pushed: ${fault.message}`));
  }

  private async pushToExecutor(executorId: string, row: Pushed): Promise<void> {
    const accountId = row.account_id as AccountId;
    const announcement = await this.announcements.get(executorId);
    if (announcement?.delivery === 'serve') return this.deliveries.wake(accountId, executorId);
    const executor = await this.executors.get(executorId);
    if (executor?.status === 'active')
      this.push.push(accountId, executorId, executor.credentialEpoch, availability(row));
  }

  private async pushToPool(row: Pushed): Promise<void> {
    const accountId = row.account_id as AccountId;
    for (const { id, credential_epoch } of await this.database.rows(
      readPool,
      accountId,
      row.principal_id,
      row.tool_name,
    ))
      this.push.push(accountId, id, credential_epoch, availability(row));
  }

  /** An approval is listed for the agent's application (chapter 6, Inbox). */
  private async pushApproval(row: Pushed): Promise<void> {
    const { account_id, principal_id } = row;
    const application = await this.database.row(readApplication, account_id as AccountId, principal_id);
    if (!application) return;
    const { id, credential_epoch } = application;
    this.push.push(account_id as AccountId, id, credential_epoch, { ...availability(row), kind: 'approval' });
  }

  private async pushCanceled(executorId: string, { account_id, run_id, task_key }: Canceled): Promise<void> {
    const executor = await this.executors.get(executorId);
    if (executor?.status !== 'active') return;
    this.push.push(account_id as AccountId, executorId, executor.credentialEpoch, {
      event: 'work_canceled',
      run_public_id: run_id,
      task_key,
    });
  }
}

const availability = ({ run_id, task_key, kind, tool_name }: Pushed) =>
  ({ event: 'work_available', run_public_id: run_id, task_key, kind, tool_name }) as const;
