import { Injectable } from '@nestjs/common';
import { NodeEvents } from '../bus/node-events.js';
import type { AccountId } from '../db/account-id.js';
import { Database } from '../db/database.js';
import { statement } from '../db/statement.js';
import { VersionedCache } from './versioned-cache.js';

export type ExecutorKind = 'runner' | 'agent_application' | 'tool_provider';

/** An executor as every module knows it, without what it announced. */
export interface ExecutorRecord {
  readonly id: string;
  readonly accountId: AccountId;
  readonly kind: ExecutorKind;
  readonly displayName: string;
  readonly status: 'active' | 'revoked';
  readonly credentialEpoch: number;
  readonly managerId: string | null;
  readonly agentId: string | null;
  readonly assignmentScope: 'user_private' | 'account_wide';
  readonly modules: readonly string[];
  readonly machine: string;
  readonly serviceIds: 'pinned' | 'any';
  readonly shutdownRequestedAt: Date | null;
}

const readExecutor = statement<[id: string], ExecutorRecord>(
  'executor_read',
  `select id, account_id as "accountId", kind, display_name as "displayName", status,
          credential_epoch as "credentialEpoch", manager_id as "managerId", agent_id as "agentId",
          assignment_scope as "assignmentScope", modules, machine, service_ids as "serviceIds",
          shutdown_requested_at as "shutdownRequestedAt"
   from executors where id = $1`,
);

/** Executors by id, remembered until one changes. Who may write checks again inside the statement that writes. */
@Injectable()
export class ExecutorDirectory {
  private readonly cache: VersionedCache<ExecutorRecord>;

  constructor(
    private readonly database: Database,
    events: NodeEvents,
  ) {
    this.cache = new VersionedCache(events, 20_000, ['executor']);
  }

  get(id: string): Promise<ExecutorRecord | undefined> {
    return this.cache.get(id, () => this.database.row(readExecutor, id));
  }
}
