import type { Executor } from './executor.entity.js';
import type { Presence } from './presence.js';

export type ExecutorFacts = Pick<
  Executor,
  | 'id'
  | 'kind'
  | 'displayName'
  | 'status'
  | 'assignmentScope'
  | 'credentialEpoch'
  | 'modules'
  | 'machine'
  | 'serviceIds'
  | 'shutdownRequestedAt'
  | 'lastSeenAt'
  | 'connectedAt'
>;

/** An executor as its administrators and its manager see it (chapter 1). */
export const executorJson = (executor: ExecutorFacts, presence: Presence): object => ({
  public_id: executor.id,
  kind: executor.kind,
  display_name: executor.displayName,
  status: executor.status,
  assignment_scope: executor.assignmentScope,
  credential_epoch: executor.credentialEpoch,
  modules: executor.modules,
  machine: executor.machine,
  service_ids: executor.serviceIds,
  shutdown_requested_at: executor.shutdownRequestedAt,
  presence: presence.of(executor.id, executor.lastSeenAt),
  last_seen_at: executor.lastSeenAt,
  connected_at: executor.connectedAt,
});
