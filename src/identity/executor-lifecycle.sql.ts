import type { AccountId } from '../db/account-id.js';
import { statement } from '../db/statement.js';
import { EXECUTOR_COLUMNS } from './executor-columns.sql.js';
import type { ExecutorFacts } from './executor-json.js';

/** Whose executors a caller may manage: null for all of the account, else a human's own private runners (chapter 1). */
export type OwnerId = string | null;

const owned = `($3::uuid is null or (manager_id = $3 and kind = 'runner' and assignment_scope = 'user_private'))`;

export const readManaged = statement<[AccountId, executorId: string, OwnerId], ExecutorFacts>(
  'executor_read_managed',
  `select ${EXECUTOR_COLUMNS} from executors where account_id = $1 and id = $2 and ${owned}`,
);

/** No row when it was revoked before. */
export const revokeExecutor = statement<[AccountId, executorId: string], ExecutorFacts>(
  'executor_revoke',
  `update executors set status = 'revoked', revoked_at = now()
   where account_id = $1 and id = $2 and status = 'active' returning ${EXECUTOR_COLUMNS}`,
);

/** Asked for again it keeps the first moment. No row when it is not there, not the caller's, or revoked. */
export const shutDownExecutor = statement<[AccountId, executorId: string, OwnerId], ExecutorFacts>(
  'executor_shut_down',
  `update executors set shutdown_requested_at = coalesce(shutdown_requested_at, now())
   where account_id = $1 and id = $2 and ${owned} and status = 'active' returning ${EXECUTOR_COLUMNS}`,
);

export const resumeExecutor = statement<[AccountId, executorId: string, OwnerId], ExecutorFacts>(
  'executor_resume',
  `update executors set shutdown_requested_at = null
   where account_id = $1 and id = $2 and ${owned} and status = 'active' returning ${EXECUTOR_COLUMNS}`,
);
